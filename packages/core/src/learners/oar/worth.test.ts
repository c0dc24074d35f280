import { describe, expect, it } from "vitest";
import { normalBelow } from "../../scoring/normal.js";
import { type OarShared, sharedCodec } from "./state.js";
import { advantageOf, hostShareOf, worthSums } from "./worth.js";

/** A collection after control runs, with the advantage of each and the surprise that followed. */
function after(runs: readonly { readonly held: boolean; readonly advantage: number; readonly surprise: number }[]) {
  const shared: OarShared = { ...sharedCodec.empty(), lessons: 300 };
  for (const { surprise, ...control } of runs) {
    const [heldSquares, heldProducts, squares, products] = worthSums(1, surprise, control);
    shared.heldSquares += heldSquares;
    shared.heldProducts += heldProducts;
    shared.squares += squares;
    shared.products += products;
  }
  return shared;
}

const runsOf = (count: number, held: boolean, surprise: number) =>
  Array.from({ length: count }, () => ({ held, advantage: 0.5, surprise }));

describe("the share of control runs", () => {
  it("is 0 in the first 300 runs, then as the prior says", () => {
    expect(hostShareOf({ ...sharedCodec.empty(), lessons: 299 })).toBe(0);
    // Φ((0.1 − 1) / √(0.2 / 0.3)) = 0.135
    expect(hostShareOf(after([]))).toBe(0.15);
  });

  it("leaves one run in ten to the learned order where the gates are closed, until it proves its worth", () => {
    // Φ((0.1 + 1) / √(0.2 / 0.3)) = 0.911
    expect(hostShareOf({ ...sharedCodec.empty(), lessons: 20 }, true)).toBe(0.9);
    expect(hostShareOf(after([...runsOf(10, false, -0.1), ...runsOf(90, true, 0)]), true)).toBe(0.9);
    expect(hostShareOf(after([...runsOf(20, false, 0.5), ...runsOf(180, true, 0)]), true)).toBe(0);
  });

  it("falls to 0 where learned orders gain what was predicted, and controls do not", () => {
    expect(hostShareOf(after([...runsOf(60, false, 0.5), ...runsOf(10, true, 0)]))).toBe(0);
  });

  it("stays at a twentieth until controls tell enough, however well the first learned orders did", () => {
    const shares = [0, 3, 5].map((held) => hostShareOf(after([...runsOf(20, false, 0.5), ...runsOf(held, true, 0)])));
    expect(shares).toEqual([0.05, 0.05, 0]);
  });

  it("rises where controls succeed as well: the advantage marks easy requests", () => {
    // Φ((0.1 − 0.059) / 0.130) = 0.62
    expect(hostShareOf(after([...runsOf(90, false, 0.4), ...runsOf(90, true, 0.4)]))).toBe(0.6);
  });

  it("rises where nothing comes of the advantage", () => {
    // Φ((0.1 − 0.025) / 0.130) = 0.72
    expect(hostShareOf(after([...runsOf(90, false, 0), ...runsOf(90, true, 0)]))).toBe(0.7);
  });

  it("is that of the regression by normal equations with the prior", () => {
    const runs = [
      { held: false, advantage: 0.4, surprise: 0.3 },
      { held: true, advantage: 0.3, surprise: -0.2 },
      { held: false, advantage: -0.2, surprise: 0.1 },
    ];
    const rows = runs.map(({ held, advantage, surprise }) => ({ A: advantage, T: held ? 0 : advantage, e: surprise }));
    const sum = (of: (row: { A: number; T: number; e: number }) => number) => rows.reduce((s, row) => s + of(row), 0);
    const [aa, at, tt] = [sum(({ A }) => A * A) + 1, sum(({ A, T }) => A * T), sum(({ T }) => T * T) + 0.3];
    const [ae, te] = [sum(({ A, e }) => A * e), sum(({ T, e }) => T * e) + 0.3];
    const determinant = aa * tt - at * at;
    const [beta, error] = [(aa * te - at * ae) / determinant, Math.sqrt((0.2 * aa) / determinant)];
    const share = normalBelow((0.1 - beta) / error);
    expect(hostShareOf(after(runs))).toBe(Math.round(share * 20) / 20);
  });
});

describe("the advantage of a learned list", () => {
  it("counts both lists with the weights of the host's places, and is 0 for the host's own", () => {
    const similarities = Float64Array.of(0.9, 0.8, 0.5, 0.5);
    const utilities = Float64Array.of(-1, 0.5, 2, 0);
    expect(advantageOf(0.1, similarities, utilities, Float64Array.of(4, 3, 2, 1), 2)).toBe(0);
    const weight = ((0.8 - 0.5) / 0.4) ** 0.7;
    const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
    const expected = sigmoid(0.1 + 2 + weight * 0.5) - sigmoid(0.1 - 1 + weight * 0.5);
    expect(advantageOf(0.1, similarities, utilities, Float64Array.of(1, 3, 4, 2), 2)).toBeCloseTo(expected, 12);
  });
});

it("normalBelow is the standard normal distribution function", () => {
  const known = [
    [-3, 0.001349898],
    [-1, 0.1586552539],
    [0, 0.5],
    [0.5, 0.6914624613],
    [1.96, 0.9750021049],
  ] as const;
  for (const [x, probability] of known) expect(Math.abs(normalBelow(x) - probability)).toBeLessThan(1e-7);
});
