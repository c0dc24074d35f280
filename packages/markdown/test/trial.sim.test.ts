import { describe, expect, it } from "vitest";
import { seededRandom } from "../../core/test/support/random.js";
import { capital, centreOf, decide, type Outcomes } from "../src/procedures/trial.js";

/** Trials of one world: share adopted and taken back, and runs until the verdict in the middle. */
function trials(
  inFile: number,
  revision: number,
  seeds: number,
): { adopted: number; rolledBack: number; runs: number } {
  const verdicts = Array.from({ length: seeds }, (_, seed) => {
    const { next: random } = seededRandom((seed + 1) * 2_654_435_761);
    const empty = (): { successes: number; failures: number } => ({ successes: 0, failures: 0 });
    const arms = [empty(), empty()] as const;
    for (let run = 1; ; run++) {
      const place = random() < 0.5 ? 0 : 1;
      arms[place][random() < (place === 1 ? revision : inFile) ? "successes" : "failures"] += 1;
      const verdict = decide(arms[1], arms[0], 0.4);
      if (verdict !== "continue") return { verdict, run };
    }
  });
  const share = (wanted: string): number => verdicts.filter(({ verdict }) => verdict === wanted).length / seeds;
  const runs = verdicts.map(({ run }) => run).sort((a, b) => a - b);
  return { adopted: share("adopt"), rolledBack: share("roll back"), runs: runs[Math.floor(seeds / 2)] as number };
}

describe("the trial of a revision", () => {
  it("P24: adopts a revision that is no better in at most 5 % of 500 trials, though it is looked at after every run", () => {
    for (const rate of [0.2, 0.5, 0.8]) expect(trials(rate, rate, 500).adopted).toBeLessThanOrEqual(0.05);
  });

  it("P24: takes a bad revision back within a few runs, and adopts a good one", () => {
    const bad = trials(0.8, 0.3, 500);
    expect([bad.adopted, bad.rolledBack]).toEqual([0, 1]);
    expect(bad.runs).toBeLessThanOrEqual(12);
    expect(trials(0.4, 0.9, 500).adopted).toBeGreaterThan(0.9);
  });

  it("is worth 1 before any outcome, more for a better revision, and a mean of at most 1 over fair coins", () => {
    const none: Outcomes = { successes: 0, failures: 0 };
    expect(capital(none, none, 0.4)).toBeCloseTo(1, 12);
    expect(capital({ successes: 5, failures: 0 }, { successes: 0, failures: 5 }, 0.4)).toBeGreaterThan(20);
    // One outcome of either version at equal rates p: the mean of the capital after it is 1.
    for (const [rate, centre] of [
      [0.3, 0.3],
      [0.7, 0.2],
      [0.5, 0.9],
    ] as const) {
      const hit = { successes: 1, failures: 0 };
      const miss = { successes: 0, failures: 1 };
      const mean =
        (rate * (capital(hit, none, centre) + capital(none, hit, centre)) +
          (1 - rate) * (capital(miss, none, centre) + capital(none, miss, centre))) /
        2;
      expect(mean).toBeCloseTo(1, 12);
    }
    expect([centreOf(none), centreOf({ successes: 0, failures: 100 })]).toEqual([0.5, 0.05]);
  });
});
