import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import {
  type Engine,
  type Learner,
  type MemoryView,
  type OutcomeInput,
  oar,
  qValue,
  similarity,
} from "../src/index.js";
import { contentHash } from "../src/learners/index.js";
import { scopesIn } from "../src/ledger/utility-bands.js";
import { differencesIn } from "../src/maintenance/differences.js";
import { compact, forget, importState, replay, revoke, verify } from "../src/maintenance/index.js";
import { allMemories, countedFrom, wholeHistory } from "./support/tally-oracle.js";
import { candidates, DAY, MINUTE, oneRun, request, START, snapshot, testEngine } from "./support/test-engine.js";

const learners: readonly (readonly [string, () => Learner])[] = [
  ["oar", () => oar() as Learner],
  ["oar that fades", () => oar({ halfLife: MINUTE }) as Learner],
  ["qValue", () => qValue({ warmThreshold: 2 }) as Learner],
  ["similarity", () => similarity() as Learner],
];

/** One of the last four runs, and one vote or none on each of its two memories. */
const word = fc.record({
  run: fc.nat(3),
  reward: fc.constantFrom(true, false, 0.5, null, null),
  tier: fc.constantFrom("user" as const, "user" as const, "verified" as const, "completed" as const),
  source: fc.constantFrom("ann", "bob"),
  votes: fc.tuple(...["m1", "m2"].map(() => fc.constantFrom(undefined, "helpful", "harmful", "neutral"))),
  used: fc.constantFrom(undefined, undefined, ["m1"], [{ id: "m2", by: "quote" as const }]),
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("run" as const), from: fc.nat(3) }) },
  { weight: 8, arbitrary: word.map((said) => ({ kind: "word" as const, ...said })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), memory: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revoke" as const), source: fc.constantFrom("ann", "bob") }) },
);

describe.each(learners)("memories() with %s", (_, learner) => {
  it("counts what the whole history says, after corrections, votes, revocations, a replay and a compaction", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50, size: "max" }), async (steps) => {
        const { engine, clock } = testEngine({ learner: learner() });
        const runs: string[] = [];
        for (const next of steps) {
          clock.now += MINUTE;
          if (next.kind === "run") {
            const shown = candidates(6).slice(next.from, next.from + 2);
            const { episode } = await engine.rank(request({ candidates: shown, topK: 2, keepOrder: true }));
            await engine.end(episode, { reward: true, tier: "completed" });
            runs.unshift(episode);
          } else if (next.kind === "forget") {
            await forget(engine, { namespace: "default", ids: [`d${next.memory}`] });
          } else if (next.kind === "revoke") {
            await revoke(engine, { namespace: "default", source: next.source });
          } else if (runs[next.run] !== undefined) {
            const { run, votes, kind, ...said } = next;
            const on = (side: string): string[] => ["m1", "m2"].filter((_name, i) => votes[i] === side);
            const cast = { helpful: on("helpful"), harmful: on("harmful"), neutral: on("neutral") };
            await engine.report(runs[run] as string, { ...said, ...cast });
          }
        }
        const known = await allMemories(engine);
        const counted = countedFrom(await wholeHistory(engine), "default");
        expect(known.map(({ id }) => id)).toEqual([...counted.keys()].sort());
        for (const memory of known) expect(memory).toMatchObject(counted.get(memory.id) as object);
        await expectOrdered(engine, known);
        await replay(engine, { write: true });
        expect(await allMemories(engine)).toEqual(known);
        await compact(engine, { namespace: "default", olderThan: 0 });
        expect(await allMemories(engine)).toEqual(known);
        await expectOrdered(engine, known);
      }),
      { numRuns: 50 },
    );
  });
});

describe("memories()", () => {
  it("gives the facts of the ids asked for, in their order, and zeros for one that was never shown", async () => {
    const { engine, store } = testEngine();
    const text = "restart the pod";
    const shown = [{ id: "a", similarity: 1, text, label: "Restart" }, ...candidates(2)];
    const { episode } = await engine.rank(request({ candidates: shown, keepOrder: true }));
    await engine.end(episode, { reward: true, helpful: ["a"], harmful: ["d0"], used: ["a"] });
    const before = await snapshot(store);
    const { memories, next } = await engine.memories({ ids: ["never", "d1", "a"] });
    const zeros = { used: 0, successes: 0, failures: 0, helpful: 0, harmful: 0, wins: 0, losses: 0 };
    expect(memories).toEqual([
      { id: "never", shown: 0, ...zeros, utility: 0, evidence: 0 },
      { ...zeros, ...{ id: "d1", shown: 1, lastShown: START, successes: 1 }, ...numbers(memories[1]) },
      {
        ...{ ...zeros, id: "a", shown: 1, lastShown: START, used: 1, successes: 1, helpful: 1, wins: 1 },
        ...{ ...numbers(memories[2]), contentHash: contentHash(text), label: "Restart" },
      },
    ]);
    expect(next).toBeUndefined();
    const best = (await engine.status()).collections[0]?.best.find(({ id }) => id === "a");
    expect(best).toMatchObject(numbers(memories[2]));
    expect(await snapshot(store)).toEqual(before);
    await forget(engine, { namespace: "default", ids: ["a"] });
    expect((await engine.memories({ ids: ["a"] })).memories).toEqual([
      { id: "a", shown: 0, ...zeros, utility: 0, evidence: 0 },
    ]);
  });

  it("has pages of all memories but forgotten ones", async () => {
    const { engine } = testEngine();
    await engine.end((await engine.rank(request({ topK: 5 }))).episode);
    await forget(engine, { namespace: "default", ids: ["d2", "d3"] });
    const first = await engine.memories({ limit: 2 });
    expect([first.memories.map(({ id }) => id), first.next]).toEqual([["d0", "d1"], "d1"]);
    const second = await engine.memories({ limit: 2, after: first.next });
    expect([second.memories, second.next]).toEqual([[], "d3"]);
    const third = await engine.memories({ limit: 2, after: second.next });
    expect([third.memories.map(({ id }) => id), third.next]).toEqual([["d4"], undefined]);
  });

  it("has pages by utility from either end, without memories that have no evidence", async () => {
    const { engine, store } = testEngine();
    for (let i = 0; i < 25; i++) {
      const { episode } = await engine.rank({ candidates: [{ id: `m${i}`, similarity: 1 }], topK: 1 });
      await engine.end(episode, i === 24 ? {} : { reward: (i % 12) / 11, tier: "verified" });
    }
    const known = await allMemories(engine);
    await expectOrdered(engine, known);
    expect((await engine.memories({ order: "lowest" })).memories).toHaveLength(24);
    expect(await engine.memories({ order: "highest", after: "m24" })).toEqual({ memories: [] });
    expect(await engine.memories({ order: "lowest", collection: "other" })).toEqual({ memories: [] });
    expect(await verify(engine)).toMatchObject({ ok: true });
    // A list that is wrong is found like any other state.
    const bands = scopesIn("default").slice(1);
    expect(
      (await differencesIn(store, "default", { scopes: new Map() })).filter(({ scope }) => bands.includes(scope)),
    ).toHaveLength(24);
  });

  it("counts a text as new where an edit resets, and goes on where it discounts", async () => {
    for (const [onEdit, expected] of [
      ["reset", { shown: 1, successes: 0, failures: 1 }],
      ["discount", { shown: 2, successes: 0, failures: 2 }],
    ] as const) {
      const { engine } = testEngine({ onEdit });
      const show = async (text: string, outcome: OutcomeInput): Promise<string> => {
        const episode = await oneRun(engine, { candidates: [{ id: "a", similarity: 1, text }], topK: 1 }, outcome);
        return episode;
      };
      const old = await show("old", { reward: true });
      await show("new", { reward: false });
      await engine.report(old, { reward: false });
      const [memory] = (await engine.memories({ ids: ["a"] })).memories;
      expect(memory).toMatchObject({ ...expected, contentHash: contentHash("new") });
      expect(await replay(engine)).toMatchObject({ identical: true });
    }
  });

  it("counts the outcomes of trusted sources, up to the cap of each", async () => {
    const doubtful = testEngine({ governance: governance({ trust: "audited" }) }).engine;
    const capped = testEngine({ governance: governance({ sourceCaps: { weight: 1, window: DAY } }) }).engine;
    for (const engine of [doubtful, capped]) {
      for (const source of ["ann", "ann", "checker"]) {
        const { episode } = await engine.rank(request({ topK: 1 }));
        const tier = source === "checker" ? "verified" : "user";
        await engine.end(episode, { reward: true, tier, source, helpful: ["m1"] });
      }
    }
    expect((await doubtful.memories()).memories[0]).toMatchObject({ shown: 3, successes: 1, helpful: 1 });
    expect((await capped.memories()).memories[0]).toMatchObject({ shown: 3, successes: 2, helpful: 2 });
  });

  it("refuses what names no page, and states of another learner", async () => {
    const { engine, store } = testEngine();
    await engine.end((await engine.rank(request())).episode, { reward: true });
    const wrong = [{ ids: ["a"], order: "id" }, { order: "worst" }];
    for (const options of [
      ...wrong,
      { ids: ["a"], limit: 3 },
      { limit: 0 },
      { limit: 1_001 },
      { ids: "a" },
      { id: "a" },
    ]) {
      await expect(engine.memories(options as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    for (const options of [{ limit: 0.5 }, { after: -1 }, { before: 3 }]) {
      await expect(engine.history(options as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const other = testEngine({ store, learner: qValue() as Learner }).engine;
    await expect(other.memories()).rejects.toMatchObject({ code: "LEARNER_MISMATCH" });
    expect((await other.history()).events).toHaveLength(2);
  });
});

describe("history()", () => {
  it("gives every kind of event, decoded, oldest first", async () => {
    const { engine, store } = testEngine();
    const { episode } = await engine.rank({
      candidates: [{ id: "d0", similarity: 0.5 }],
      topK: 1,
      aliases: ["run"],
    });
    await engine.end(episode, { reward: false, harmful: ["m1"], note: "wrong pod" });
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await importState(engine, { memories: [{ id: "d9", state: oar().memory.empty() }] });
    await revoke(engine, { namespace: "default", source: "user" });
    const before = await snapshot(store);
    const { events, next } = await engine.history();
    const shown = {
      at: START,
      collection: "default",
      context: "default",
      credited: true,
      items: [{ id: "d0", handle: "m1", similarity: 0.5 }],
    };
    expect(events).toMatchObject([
      { seq: 1, at: START, type: "exposure", episode, state: "ended", aliases: ["run"], exposures: [shown] },
      { seq: 2, type: "outcome", episode, reward: 0, tier: "user", source: "user", harmful: ["d0"], note: "wrong pod" },
      { seq: 3, type: "forget", collection: "default", ids: ["d0"] },
      { seq: 4, type: "import", learner: "oar@2", collection: "default", ids: ["d9"] },
      { seq: 5, type: "revoke", source: "user", fromSeq: 1 },
    ]);
    expect(next).toBeUndefined();
    expect((await engine.history({ after: 2, limit: 2 })).events.map(({ seq }) => seq)).toEqual([3, 4]);
    expect((await engine.history({ after: 2, limit: 2 })).next).toBe(4);
    expect(await engine.history({ namespace: "empty" })).toEqual({ events: [] });
    expect(await snapshot(store)).toEqual(before);
  });
});

/** The pages by utility have the memories with evidence, each once and in order, and `status` counts them. */
async function expectOrdered(engine: Engine, known: readonly MemoryView[]): Promise<void> {
  const withEvidence = known.filter(({ evidence }) => evidence > 0).map(({ id }) => id);
  const counts = { memories: known.filter(({ shown }) => shown > 0).length, withEvidence: withEvidence.length };
  const { collections } = await engine.status();
  if (collections.length > 0) expect(collections).toMatchObject([counts]);
  for (const order of ["lowest", "highest"] as const) {
    const paged: MemoryView[] = [];
    let after: string | undefined;
    do {
      const { memories, next }: { memories: readonly MemoryView[]; next?: string } = await engine.memories({
        ...{ order, limit: 2 },
        ...(after === undefined ? {} : { after }),
      });
      paged.push(...memories);
      after = next;
    } while (after !== undefined);
    expect(paged.map(({ id }) => id).sort()).toEqual(withEvidence.toSorted());
    const rising = paged.map(({ utility }) => (order === "lowest" ? utility : -utility));
    expect(rising).toEqual(rising.toSorted((a, b) => a - b));
  }
}

/** The learner's numbers, whose arithmetic is tested elsewhere. */
function numbers(memory: { readonly utility: number; readonly evidence: number } | undefined): object {
  return { utility: memory?.utility, evidence: memory?.evidence };
}
