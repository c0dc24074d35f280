import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import { type Learner, OUTCOME_TIERS, type OutcomeInput, oar, qValue, similarity } from "../src/index.js";
import { decodeStats } from "../src/ledger/stats-record.js";
import { forget, replay, revoke } from "../src/maintenance/index.js";
import { seededRandom } from "./support/random.js";
import { MINUTE, request, snapshot, testEngine } from "./support/test-engine.js";

const learners: readonly (readonly [string, () => Learner])[] = [
  ["oar", () => oar() as Learner],
  ["qavr", () => qValue({ warmThreshold: 2 }) as Learner],
  ["similarity", () => similarity() as Learner],
];

const handles = (handle: string): fc.Arbitrary<string[]> => fc.boolean().map((named) => (named ? [handle] : []));

/** One vote or none on each of two memories. */
const votes: fc.Arbitrary<OutcomeInput> = fc
  .tuple(
    ...["m1", "m2"].map((handle) =>
      fc.constantFrom(undefined, "helpful", "harmful", "neutral").map((side) => ({ side, handle })),
    ),
  )
  .map((cast) => {
    const on = (side: string): string[] => cast.filter((vote) => vote.side === side).map(({ handle }) => handle);
    return { helpful: on("helpful"), harmful: on("harmful"), neutral: on("neutral") };
  });

const word: fc.Arbitrary<OutcomeInput> = fc
  .record({
    verdict: fc.record({
      reward: fc.oneof(fc.constantFrom(true, false, null), fc.double({ min: 0, max: 1, noNaN: true })),
      tier: fc.constantFrom(...OUTCOME_TIERS),
      weight: fc.constantFrom(0.1, 1),
    }),
    votes,
    used: fc.option(handles("m1"), { nil: undefined }),
  })
  .map(({ verdict, votes, used }) => ({ ...verdict, ...votes, used }));

type Step =
  | { readonly kind: "run"; readonly seed: number; readonly outcome: OutcomeInput | undefined }
  | { readonly kind: "word"; readonly pick: number; readonly outcome: OutcomeInput }
  | { readonly kind: "lie"; readonly pick: number; readonly outcome: OutcomeInput }
  | { readonly kind: "forget"; readonly memory: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("run" as const),
      seed: fc.nat(1_000),
      outcome: fc.option(word, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("word" as const), pick: fc.nat(9), outcome: word }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("lie" as const), pick: fc.nat(9), outcome: word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), memory: fc.nat(9) }) },
);

/** Lives through the steps. Where a lie would be told, an engine that is `spared` records something that changes no state instead. */
async function live(learner: Learner, steps: readonly Step[], spared: boolean): Promise<ReturnType<typeof testEngine>> {
  const doubt = { governance: governance({ trust: "audited", sourceCaps: { weight: 2, window: 60 * MINUTE } }) };
  const world = testEngine({ learner, holdout: 0.5, ...(steps.length % 2 === 0 ? doubt : {}) });
  const { engine, clock } = world;
  const ended: string[] = [];
  for (const next of steps) {
    clock.now += MINUTE;
    const episode = "pick" in next ? ended[next.pick % Math.max(1, ended.length)] : undefined;
    if (next.kind === "run") {
      const random = seededRandom(next.seed);
      const ranking = await engine.rank(
        // The ledger says what was shown; that must not depend on what was learned.
        request({ vector: random.direction(4), topK: 2 + random.below(3), keepOrder: true }),
      );
      await engine.end(ranking.episode, next.outcome && { ...next.outcome, source: "honest" });
      ended.push(ranking.episode);
    } else if (next.kind === "forget") {
      await forget(engine, { namespace: "default", ids: [`d${next.memory}`] });
    } else if (episode !== undefined) {
      if (next.kind === "word") await engine.report(episode, { ...next.outcome, source: "honest" });
      else if (!spared) await engine.report(episode, { ...next.outcome, source: "liar" });
      else await revoke(engine, { namespace: "default", source: "nobody" });
    }
  }
  return world;
}

describe.each(learners)("after a source was revoked, with %s", (_, learner) => {
  it("every byte of the state is that of an engine that was never given its outcomes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
        const told = await live(learner(), steps, false);
        const spared = await live(learner(), steps, true);
        await revoke(told.engine, { namespace: "default", source: "liar" });
        await revoke(spared.engine, { namespace: "default", source: "nobody" });
        expect(await states(told)).toEqual(await states(spared));
        expect(await replay(told.engine)).toMatchObject({ identical: true });
      }),
      { numRuns: 60 },
    );
  });
});

/** All states, but for the count of revocations. */
async function states({ store }: ReturnType<typeof testEngine>): Promise<unknown> {
  const { head, states: all } = (await snapshot(store)) as { head: number; states: Record<string, string> };
  const stats = all["stats/namespace"];
  const counters = stats && { ...decodeStats(Buffer.from(stats, "hex")), revocations: undefined };
  return { head, states: { ...all, "stats/namespace": counters } };
}
