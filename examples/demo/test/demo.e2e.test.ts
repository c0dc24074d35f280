import { existsSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, type Learner, qValue } from "@qavr/core";
import { replay } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { beforeAll, describe, expect, it } from "vitest";
import { type DemoResult, runDemo } from "../src/demo.js";
import { parseOptions } from "../src/options.js";

const RUNS = 60;

/** A finished demo, in an empty folder of its own. */
interface Shown extends DemoResult {
  readonly folder: string;
  readonly printed: readonly string[];
  readonly shares: readonly number[];
}

async function demo(...args: string[]): Promise<Shown> {
  const folder = join(await mkdtemp(join(tmpdir(), "demo-")), "demo");
  const printed: string[] = [];
  const shares: number[] = [];
  const result = await runDemo(parseOptions(["--runs", String(RUNS), "--no-color", ...args]), {
    folder,
    print: (text) => void printed.push(text),
    progress: () => ({ update: (share) => void shares.push(share), clear: () => {} }),
  });
  return { ...result, folder, printed, shares };
}

/** Most tests look at one demo: it takes seconds. */
let first: Shown;
beforeAll(async () => {
  first = await demo();
});

describe("the demo", () => {
  it("starts all rankers alike, learns from every run and keeps a ledger that replays", async () => {
    const { results, shares } = first;
    const [start] = results[0]?.checkpoints ?? [];
    expect(new Set(start?.arms.map((arm) => arm.success)).size).toBe(1);
    expect(start?.runs).toBe(0);
    expect(shares.at(-1)).toBe(1);
    for (const path of results[0]?.ledgers ?? []) {
      const engine = createEngine({ store: sqliteStore(path) });
      const { outcomes, episodes } = await engine.status();
      expect(outcomes.verified).toBe(RUNS);
      expect(episodes.open).toBe(0);
      await engine.close();
    }
    const engine = createEngine({ store: sqliteStore(results[0]?.ledgers.at(-1) as string) });
    expect((await replay(engine)).identical).toBe(true);
    await engine.close();
  });

  it("hands the checker's verdicts to the learner, right and wrong ones", async () => {
    const { results } = first;
    const [formula] = results[0]?.ledgers ?? [];
    const engine = createEngine({ store: sqliteStore(formula as string), learner: qValue() as Learner });
    const [collection] = (await engine.status()).collections;
    expect(collection?.best[0]?.utility).toBeGreaterThan(0.5);
    expect(collection?.worst[0]?.utility).toBeLessThan(0.5);
    await engine.close();
  });

  it("prints the curve, a table, one request before and after, and the command that shows the ledger", async () => {
    const { plot, printed, folder } = first;
    const output = printed.join("\n");
    expect(output).toContain("outcomes are simulated");
    expect(output).toMatch(/^ {4}60 {2}similarity +0\.\d{3} +0\.\d{3} +0\.\d{3} +0\.\d{3}$/m);
    expect(output).toMatch(/^ {8}qavr +0\.\d{3}/m);
    expect(output).toContain("One request before and after");
    expect(output).toMatch(/Right answers\n(.+\n)+.*└─+\n +60 of 60 questions/);
    expect(output).toContain("On outcomes that really happened");
    expect(output).toContain(`qavr dashboard --store ${join(folder, "seed-1", "qavr.db")}`);
    expect(await readFile(plot, "utf8")).toContain("<svg");
  });

  it("draws the curve while it grows, and takes it away at the end", async () => {
    const frames: string[] = [];
    const folder = join(await mkdtemp(join(tmpdir(), "demo-")), "demo");
    let cleared = 0;
    const frame = { draw: (text: () => string) => void frames.push(text()), clear: () => void cleared++ };
    await runDemo(parseOptions(["--runs", String(RUNS), "--no-color"]), {
      folder,
      print: () => {},
      progress: () => ({ update: () => {}, clear: () => {} }),
      frame,
    });
    expect(frames).toHaveLength(RUNS);
    expect(frames.at(-1)).toMatch(/qavr \d+ %/);
    expect(frames.at(-1)).toMatch(/similarity \d+ %/);
    expect(cleared).toBe(1);
  });

  it("holds runs out with one seed, so that the ledger measures what learning is worth", async () => {
    const { results } = first;
    const engine = createEngine({ store: sqliteStore(results[0]?.ledgers.at(-1) as string) });
    expect((await engine.status()).lift?.episodes.holdout).toBeGreaterThan(0);
    await engine.close();
  });

  it("gives the same numbers again, from an empty folder", async () => {
    const again = await demo();
    expect(again.summary).toEqual(first.summary);
    expect(again.results[0]?.example).toEqual(first.results[0]?.example);
  });

  it("averages seeds, pairs them, and prints one JSON object when asked", async () => {
    const extra = join(first.folder, "..", "docs", "demo.svg");
    const { printed } = await demo("--seeds", "2", "--json", "--plot", extra);
    expect(printed).toHaveLength(1);
    const parsed = JSON.parse(printed[0] as string) as DemoResult;
    expect(parsed.results.map((result) => result.seed)).toEqual([1, 2]);
    const last = parsed.summary.at(-1);
    const gain = last?.arms.find((arm) => arm.name === "qavr")?.gains?.success;
    const differences = parsed.results.map(({ checkpoints }) => {
      const arms = checkpoints.at(-1)?.arms ?? [];
      return (arms[2]?.success as number) - (arms[0]?.success as number);
    });
    expect(gain?.mean).toBeCloseTo(((differences[0] as number) + (differences[1] as number)) / 2, 12);
    expect(existsSync(extra)).toBe(true);
  });
});
