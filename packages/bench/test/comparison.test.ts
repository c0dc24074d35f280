import { describe, expect, it } from "vitest";
import { type Comparisons, compare } from "../src/learning/comparison.js";
import { GUARDS, guard } from "../src/learning/guard.js";
import { losses } from "../src/learning/losses.js";
import { learningCurves, scenarioHeatMap } from "../src/learning/plots.js";
import { reportPage } from "../src/learning/report.js";
import { decodeResults, encodeResults, type JobResult } from "../src/learning/results.js";
import { BASELINE_ROW, DEFAULT_ROW, PREDECESSOR_ROW, REFERENCE_ROW } from "../src/learning/rows.js";
import { LEARNABLE_SETS, type TargetResult, targetResults } from "../src/learning/targets.js";

const CURVE = [50, 300, 1000, 3000];

/** A trial whose success gains `gains` at the checkpoints over similarity's 0.4 + seed / 100. */
const trial = (about: Partial<JobResult>, gains: readonly number[], ndcg = 0): JobResult => {
  const seed = about.seed ?? 1;
  return {
    row: DEFAULT_ROW,
    set: "banking77",
    scenario: "main",
    seed,
    online: 0.4,
    unseen: 0.3,
    unseenSuccess: 0.4,
    checkpoints: CURVE.map((runs, place) => ({
      runs,
      success: 0.4 + seed / 100 + (gains[place] ?? 0),
      ndcg: 0.3 + ndcg,
      recall: 0.4,
      misleading: 0.4,
    })),
    ...about,
  };
};
const plain = (about: Partial<JobResult> = {}): JobResult => trial({ ...about, row: BASELINE_ROW }, []);

describe("a comparison", () => {
  it("pairs by seed: what worlds differ in cancels", () => {
    const results = [1, 2, 3].flatMap((seed) => [plain({ seed }), trial({ seed }, [0, 0.1, 0.1, 0.2])]);
    const one = compare(results).find(DEFAULT_ROW, "banking77", "main");
    expect(one?.seeds).toBe(3);
    expect(one?.gain("success")?.mean).toBeCloseTo(0.2, 12);
    expect(one?.gain("success")?.margin).toBeCloseTo(0, 12);
    expect(one?.value("success")?.margin).toBeGreaterThan(0.02);
  });

  it("counts only seeds that similarity has too, and is nothing without any", () => {
    const results = [plain({ seed: 2 }), trial({ seed: 1 }, []), trial({ seed: 2 }, [0, 0, 0, 0.5])];
    expect(compare(results).find(DEFAULT_ROW, "banking77", "main")?.seeds).toBe(1);
    expect(compare([trial({}, [])]).all).toHaveLength(0);
    expect(compare(results).find(DEFAULT_ROW, "hwu64", "main")).toBeUndefined();
  });

  it("finds the worst checkpoint and the run from which on a gain holds", () => {
    const one = compare([plain(), trial({}, [0.01, -0.05, 0.02, 0.04])]).find(DEFAULT_ROW, "banking77", "main");
    expect(one?.worst()).toEqual({ runs: 300, gain: expect.closeTo(-0.05, 12) });
    // Above 0 at run 50, but not for good.
    expect(one?.runsUntil(0)).toBe(1000);
    expect(one?.runsUntil(0.03)).toBe(3000);
    expect(one?.runsUntil(0.05)).toBeUndefined();
  });

  it("has no unseen needs where the world has none", () => {
    const results = [plain({ unseen: undefined }), trial({ unseen: undefined }, [])];
    expect(compare(results).find(DEFAULT_ROW, "banking77", "main")?.gain("unseen")).toBeUndefined();
  });
});

describe("the targets", () => {
  const verdicts = (comparisons: Comparisons, what: string): TargetResult =>
    targetResults(comparisons).find(({ target }) => target.what === what) as TargetResult;

  it("are missed or met by what was measured, and not measured without it", () => {
    const with_ = (gain: number): TargetResult =>
      verdicts(compare([plain(), trial({}, [0, 0, 0, gain])]), "success, banking77");
    expect(with_(0.1).verdict).toBe("missed");
    expect(with_(0.17).verdict).toBe("met");
    expect(verdicts(compare([]), "success, banking77")).toMatchObject({ verdict: "not measured", value: undefined });
  });

  it("ask for few runs where less is better", () => {
    const what = "first 600 outcomes inverted: above similarity again by run";
    const scenario = "inverted-600";
    const by = (gains: readonly number[]): TargetResult =>
      verdicts(compare([plain({ scenario }), trial({ scenario }, gains)]), what);
    expect(by([-0.1, -0.1, 0.01, 0.1])).toMatchObject({ value: 1000, verdict: "met" });
    expect(by([-0.1, -0.1, -0.01, 0.1])).toMatchObject({ value: 3000, verdict: "missed" });
    expect(by([-0.1, -0.1, -0.01, -0.1])).toMatchObject({ verdict: "not measured" });
  });

  it("take each set's own multiple and average those, and only when every learnable set was run", () => {
    const what = "gain in success ÷ `qavr`, mean of the sets";
    const all = LEARNABLE_SETS.flatMap((set) => [
      plain({ set }),
      trial({ set, row: REFERENCE_ROW }, [0, 0, 0, set === "hwu64" ? 0.05 : 0.02]),
      trial({ set }, [0, 0, 0, set === "hwu64" ? 0.3 : 0.1]),
    ]);
    expect(verdicts(compare(all), what).value).toBeCloseTo((3 * (0.1 / 0.02) + 0.3 / 0.05) / 4, 9);
    expect(verdicts(compare(all.filter(({ set }) => set !== "hwu64")), what).value).toBeUndefined();
  });
});

describe("the guard", () => {
  const quick = (gain: number, ndcg: number, harm: number, published = 0.03): Comparisons =>
    compare([
      plain(),
      trial({ row: REFERENCE_ROW }, [0, 0, 0, published]),
      trial({}, [0, 0, 0, gain], ndcg),
      plain({ scenario: "coin-toss" }),
      trial({ scenario: "coin-toss" }, [0, harm, 0, 0]),
    ]);
  const good = (comparisons: Comparisons): boolean => guard(comparisons).every((result) => result.good);

  it("holds for a learner that is worth having and falls for each way to be worse", () => {
    expect(good(quick(0.15, 0.08, -0.01))).toBe(true);
    expect(good(quick(GUARDS.success - 0.01, 0.08, -0.01))).toBe(false);
    expect(good(quick(0.15, GUARDS.ndcg - 0.01, -0.01))).toBe(false);
    expect(good(quick(0.15, 0.08, GUARDS.harm - 0.01))).toBe(false);
    expect(good(quick(0.15, 0.08, -0.01, 0.07))).toBe(false);
  });

  it("falls when something was not run", () => {
    expect(good(compare([]))).toBe(false);
  });
});

describe("the page", () => {
  const results = [1, 2].flatMap((seed) => [
    plain({ seed }),
    trial({ seed, row: REFERENCE_ROW }, [0, 0.01, 0.01, 0.3]),
    trial({ seed }, [-0.03, 0.05, 0.1, 0.2]),
    plain({ seed, scenario: "inverted" }),
    trial({ seed, scenario: "inverted" }, [-0.1, -0.1, -0.1, -0.2]),
  ]);
  const comparisons = compare(results);

  it("says first where the default learner loses, in sentences from the results", () => {
    const said = losses(comparisons).join("\n");
    expect(said).toContain(`Behind other learners in success: banking77 +0.200, \`${REFERENCE_ROW}\` +0.300.`);
    expect(said).toContain("Worse than similarity at some checkpoint, success: banking77 −0.030 after 50 runs.");
    expect(said).toContain("Deceived by lies, success: all outcomes are inverted −0.200 ±0.000.");
    const page = reportPage(comparisons);
    expect(page.indexOf("## Where it loses")).toBeLessThan(page.indexOf("## Success"));
    for (const sentence of losses(comparisons)) expect(page).toContain(sentence);
  });

  it("names missed targets alone", () => {
    const named = (row: string): Partial<JobResult>[] => LEARNABLE_SETS.map((set) => ({ set, row }));
    const all = compare([
      ...LEARNABLE_SETS.map((set) => plain({ set })),
      ...named(REFERENCE_ROW).map((about) => trial(about, [0, 0, 0, 0.02])),
      ...named(PREDECESSOR_ROW).map((about) => trial(about, [0, 0, 0, 0.16])),
      ...named(DEFAULT_ROW).map((about) => trial(about, [0, 0, 0, 0.17])),
    ]);
    const page = reportPage(all);
    expect(page).toContain("; success after 300 runs, banking77, +0.0000 (≥ +0.040);");
    expect(page).not.toContain("success, banking77, +0.1700 (");
  });

  it("has of the learners and settings of one idea the one that gains most in the mean", () => {
    const all = compare(
      LEARNABLE_SETS.flatMap((set) => [
        plain({ set }),
        ...["joint-replay", "jar", "jar-8", "jar-0"].map((row, place) =>
          trial({ set, row }, [0, 0, 0, [0.18, 0.1, 0.2, 0.15][place] ?? 0]),
        ),
      ]),
    );
    expect(reportPage(all).match(/^\| j\S*/gm)).toEqual(["| jar-8"]);
  });

  it("takes the mean of the sets for each seed before it takes an interval", () => {
    const gains = { 1: [0.1, 0.3], 2: [0.3, 0.1] };
    const all = compare(
      Object.entries(gains).flatMap(([seed, [first = 0, second = 0]]) => [
        plain({ seed: Number(seed) }),
        plain({ seed: Number(seed), set: "hwu64" }),
        trial({ seed: Number(seed) }, [], first),
        trial({ seed: Number(seed), set: "hwu64" }, [], second),
      ]),
    );
    expect(reportPage(all)).toMatch(/\| nDCG@5 +\| +0\.300 \|(?: +\|)+ +\+0\.200 ±0\.000 \|/);
  });

  it("is the same from the raw results: they survive the file up to their rounding", () => {
    const raw = encodeResults({ trials: results, ownMemories: [] });
    const read = decodeResults(raw);
    expect(encodeResults(read)).toBe(raw);
    expect(raw.trim().split("\n")).toHaveLength(results.length + 2);
    expect(reportPage(compare(read.trials, read.ownMemories))).toBe(reportPage(comparisons));
  });

  it("tells of own memories, paired by seed, where they were run", () => {
    const ownMemories = [1, 2].map((seed) => ({ seed, host: 0.4 + seed / 10, learned: 0.55 + seed / 10 }));
    const page = reportPage(compare(results, ownMemories));
    expect(page).toMatch(/0\.550 ±\d\.\d+ by words \(BM25\), \+0\.150 ±0\.000 with `oar`/);
    expect(page).not.toContain("own memories: gain");
    expect(reportPage(comparisons)).not.toContain("## Own memories");
  });

  it("has plots of what there is", () => {
    expect(learningCurves(comparisons)).toContain(`>${DEFAULT_ROW}</text>`);
    const map = scenarioHeatMap(comparisons);
    expect(map).toContain(">0.200</text>");
    expect(map).toContain(">−0.200</text>");
  });

  it("names no date, no time and no machine", () => {
    expect(reportPage(comparisons)).not.toMatch(/\b20\d\d-\d\d-\d\d\b|GiB|\bCPU\b/);
  });
});
