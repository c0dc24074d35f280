import type { HistoryEvent, NamespaceStatus } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { CHECKS, type Facts, rankCorrelation } from "../src/reports/doctor-checks.js";
import type { MemoryOfCollection } from "../src/reports/harmful-memories.js";

/** Those of a namespace of 60 runs, and these. */
function factsWith(facts: Partial<Facts>): Facts {
  const status = { learner: "oar@1", episodes: { recorded: 60 } } as NamespaceStatus;
  return { events: [], status, memories: [], namespaces: 1, mostRuns: 60, now: 0, ...facts };
}

function found(facts: Partial<Facts>): string[] {
  return CHECKS.flatMap((check) => check(factsWith(facts))?.id ?? []);
}

const many = <Item>(count: number, item: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => item(i));
const ids = (from: number, to: number) => many(to - from, (i) => ({ id: `m${from + i}` }));
const run = (
  episode: number,
  fields: object = {},
  state = "closed",
  exposures: readonly object[] = [{ context: "default", items: [], notShown: [], ...fields }],
): HistoryEvent => {
  return { type: "exposure", episode: `r${episode}`, at: 0, state, exposures } as unknown as HistoryEvent;
};
const outcome = (episode: number, reward: number, source = "checker", tier = "verified"): HistoryEvent =>
  ({ type: "outcome", episode: `r${episode}`, at: 0, reward, source, tier, helpful: [], harmful: [] }) as never;
const at = (time: number): HistoryEvent => ({ ...run(0), at: time });
/** Each is shown more often than the one before it. */
const memories = (count: number, successes: (i: number) => number, runs = 3): MemoryOfCollection[] =>
  many(count, (i) => {
    const [id, succeeded] = [`m${i}`, successes(i)];
    return {
      id,
      shown: i + 1,
      successes: succeeded,
      failures: runs - succeeded,
      helpful: 0,
      harmful: 0,
    } as MemoryOfCollection;
  });
const falling = (i: number) => (i < 5 ? 2 : 1);
/** Memories 0 to 4 are found and shown, the next ones are found. */
const searches = (times: number, last: number) =>
  many(times, (i) => run(i, { items: i === 0 ? ids(0, 5) : [], notShown: ids(0, last) }));
const contexts = (count: number, runs: number) => many(runs, (i) => run(i, { context: `c${i % count}` }));
/** The retrieval of each run is followed by one that names no context. */
const contextsBesideNone = (count: number, runs: number) =>
  many(runs, (i) => {
    const exposures = [`c${i % count}`, "default"].map((context) => ({ context, items: [], notShown: [] }));
    return run(i, {}, "closed", exposures);
  });
const ends = (count: number, abandoned: number) =>
  many(count, (i) => run(i, {}, i < abandoned ? "abandoned" : "closed"));
const doubts = (count: number, against: number, reward = 0.5, tier = "user") =>
  many(count, (i) => [outcome(i, 0.4), outcome(i, i < against ? reward : 0.4, "thumbs", tier)]).flat();
const scores = (count: number, low: number, high: number) => many(count, (i) => outcome(i, i % 2 ? low : high));
const score10 = (recorded: number) => ({ learner: "score10@1", episodes: { recorded } }) as NamespaceStatus;
/** The interval of the lift ends there. */
const lifted = (high: number) =>
  ({ learner: "oar@2", lift: { lift: { difference: -0.1, low: -0.2, high } } }) as NamespaceStatus;

/** Retrievals of two memories whose learned scores contradict the host's order. */
const kept = (times: number, fields: object = {}) => {
  const items = [
    { id: "a", similarity: 0.9, score: 0.9 },
    { id: "b", similarity: 0.8, score: 1 },
  ];
  return many(times, (i) => run(i, { context: "default", order: "host", items, notShown: [], ...fields }));
};

/** Facts that a check finds something in, and facts just before. */
const LIMITS: readonly [string, Partial<Facts>, Partial<Facts>][] = [
  ["learning-harms", { status: lifted(-0.001) }, { status: lifted(0) }],
  ["never-shown", { events: searches(30, 10) }, { events: searches(29, 10) }],
  ["never-shown", { events: searches(30, 10) }, { events: searches(30, 9) }],
  ["never-shown", { events: searches(30, 10) }, { events: searches(30, 10), memories: memories(6, () => 1) }],
  ["never-shown", { events: searches(30, 10) }, { events: [...searches(30, 10), run(30, { items: ids(5, 6) })] }],
  ["order-kept", { events: kept(8) }, { events: kept(7) }],
  ["order-kept", { events: kept(8) }, { events: kept(8, { heldOut: true }) }],
  ["order-kept", { events: kept(8) }, { events: [...kept(8), ...kept(1, { order: "learned" })] }],
  ["contexts-split", { events: contexts(33, 98) }, { events: contexts(33, 99) }],
  ["contexts-split", { events: contexts(33, 98) }, { events: contexts(32, 95) }],
  ["contexts-split", { events: contexts(33, 98) }, { events: [...contexts(32, 95), run(99)] }],
  ["contexts-split", { events: contexts(33, 98) }, { events: contextsBesideNone(32, 95) }],
  ["namespaces-split", { namespaces: 50, mostRuns: 2 }, { namespaces: 49, mostRuns: 2 }],
  ["namespaces-split", { namespaces: 50, mostRuns: 2 }, { namespaces: 50, mostRuns: 3 }],
  ["worst-shown-most", { memories: memories(10, falling) }, { memories: memories(9, falling) }],
  ["worst-shown-most", { memories: memories(10, falling) }, { memories: memories(10, falling, 2) }],
  ["worst-shown-most", { memories: memories(10, falling) }, { memories: memories(10, (i) => i % 2) }],
  ["one-sided-scores", { events: scores(50, 0.5, 0.9) }, { events: scores(50, 0.4, 0.5) }],
  ["one-sided-scores", { events: scores(50, 0.2, 0.4) }, { events: scores(49, 0.2, 0.4) }],
  ["one-sided-scores", { events: scores(50, 0.2, 0.4) }, { events: scores(50, 0.4, 0.4) }],
  ["unreachable-floor", { status: score10(50) }, { status: score10(49) }],
  ["abandoned-runs", { events: ends(50, 10) }, { events: ends(50, 9) }],
  ["abandoned-runs", { events: ends(50, 10) }, { events: ends(49, 10) }],
  ["sources-disagree", { events: doubts(10, 2) }, { events: doubts(9, 2) }],
  ["sources-disagree", { events: doubts(10, 2) }, { events: doubts(10, 1) }],
  ["sources-disagree", { events: doubts(10, 2) }, { events: doubts(10, 2, 0.4) }],
  ["sources-disagree", { events: doubts(10, 2) }, { events: doubts(10, 2, 0.5, "completed") }],
  ["clock", { events: [at(0), at(-60_001)] }, { events: [at(0), at(-60_000)] }],
  ["clock", { events: [at(60_001)] }, { events: [at(60_000)] }],
];

describe("a check of qavr doctor", () => {
  it.each(LIMITS.map(([id, beyond, before], row) => ({ id, row, beyond, before })))(
    "finds $id from its threshold on (row $row)",
    ({ id, beyond, before }) => {
      expect([found(beyond), found(before)]).toEqual([[id], []]);
    },
  );
});

describe("rankCorrelation", () => {
  it("is that of ranks, with ties at their mean, and 0 where nothing varies", () => {
    expect(rankCorrelation([1, 2, 3, 100], [1, 4, 9, 16])).toBeCloseTo(1);
    expect(rankCorrelation([1, 2, 3, 4], [8, 6, 4, 2])).toBeCloseTo(-1);
    // By hand: ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
    expect(rankCorrelation([1, 2, 2, 3], [1, 2, 3, 4])).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5));
    expect(rankCorrelation([1, 1], [1, 2])).toBe(0);
  });
});

it("namespaces-split says that there may be more only where no more are listed", () => {
  const saidOf = (namespaces: number) =>
    CHECKS.flatMap((check) => check(factsWith({ namespaces, mostRuns: 2 }))?.finding ?? []).join();
  expect(saidOf(60)).toContain("The ledger has 60 namespaces, and the largest one looked at has 2 runs");
  expect(saidOf(1_000)).toContain("The ledger has 1,000 namespaces or more, and the largest one looked at has 2 runs");
});

it("order-kept tells how lessons, too, are shown in the learned order", () => {
  const [finding] = CHECKS.flatMap((check) => check(factsWith({ events: kept(8) })) ?? []);
  expect(finding?.fix).toContain('search lessons with rankBy: "learned"');
});
