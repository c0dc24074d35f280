import { type Learner, oar } from "@qavr/core";
import { exportState, importState, replay } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { oneRun, testEngine } from "../../core/test/support/test-engine.js";
import { type ByUseMemory, type ByUseShared, byUse } from "../src/by-use.js";

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** a = target − sigmoid(l + K a), by bisection. */
function implicit(target: number, logit: number, variance: number): number {
  let [low, high] = [-1, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (target - sigmoid(logit + variance * middle) > middle) low = middle;
    else high = middle;
  }
  return low;
}

const KINDS = { a: [1, 0.2], b: [0.2, 1] } as const;
type Kind = keyof typeof KINDS;

const asked = (kind: Kind, topK: number) => ({
  candidates: ["a1", "b1", "a2", "b2", "c1"].map((id, i) => ({ id, similarity: 0.8 - 0.01 * i })),
  vector: [...KINDS[kind]],
  topK,
});

type Tested = ReturnType<typeof testEngine>;

/** Runs use the memories of their own kind; those with a 2 help. */
async function live(tested: Tested, runs: number, uses: (kind: Kind, id: string) => boolean | undefined) {
  for (let run = 0; run < runs; run++) {
    const kind: Kind = run % 2 === 0 ? "a" : "b";
    const { episode, items } = await tested.engine.rank(asked(kind, 2));
    const shown = items.map(({ id }) => id);
    const known = shown.some((id) => uses(kind, id) !== undefined);
    await tested.engine.end(episode, {
      reward: shown.includes(`${kind}2`),
      tier: "verified",
      ...(known && { used: shown.filter((id) => uses(kind, id)) }),
    });
  }
  return tested;
}

const order = async ({ engine }: Tested, kind: Kind) =>
  (await engine.rank({ ...asked(kind, 5), record: false })).items.map(({ id, score }) => [id, score]);

describe("byUse", () => {
  it("learns one run by hand", async () => {
    const { engine } = testEngine({ learner: byUse() as Learner });
    const candidates = ["used", "unused"].map((id) => ({ id, similarity: 1 }));
    await oneRun(engine, { candidates, vector: [1, 0], topK: 2 }, { reward: 1, tier: "verified", used: ["used"] });
    const { memories, shared } = await exportState(engine);
    const of = (id: string) => memories.find((memory) => memory.id === id)?.state as ByUseMemory;

    // The run: −0.3 logits are expected; the expectation may move by 1.6, the effect by 0.5.
    expect(of("used").effect).toBeCloseTo(0.5 * implicit(1, -0.3, 2.1), 4);
    expect(of("used").effectInformation).toBeCloseTo(sigmoid(-0.3) * (1 - sigmoid(-0.3)), 6);
    expect(of("unused")).toMatchObject({ effect: 0, effectInformation: 0 });

    // The flags, one after the other: the share of uses moves by 0.02, the vector by 3.
    const first = implicit(1, -0.5, 3.02);
    const second = implicit(0, -0.5 + 0.02 * first, 3.02);
    expect(of("used").use[0]).toBeCloseTo(3 * first, 3);
    expect(of("unused").use[0]).toBeCloseTo(3 * second, 3);
    const { useBias, flagged } = shared as ByUseShared;
    expect(useBias).toBeCloseTo(0.02 * (first + second), 5);
    expect(flagged).toBe(1);
  });

  it("shifts what oar ranks by the chance of use, and by the effect where that is above the usual", async () => {
    // Equal similarities have the scale 1; others are in units of their spread over 0.1: here 0.047 / 0.1.
    for (const [similarities, scale, side] of [
      [[1, 1, 1], 1, 1],
      [[0.9, 0.8, 0.8], 0.471404521, 1],
      [[1, 1, 1], 1, -1],
    ] as const) {
      const learnedBy = async (learner: unknown) => {
        const { engine } = testEngine({ learner: learner as Learner });
        const candidates = ["used", "unused", "other"].map((id, i) => ({ id, similarity: similarities[i] as number }));
        await oneRun(engine, { candidates, vector: [1, 0], topK: 2 }, { reward: 1, tier: "verified", used: ["used"] });
        const { items } = await engine.rank({ candidates, vector: [side, 0], topK: 3, record: false });
        const { memories, shared } = await exportState(engine);
        return {
          learned: new Map(items.map((item) => [item.id, item.learned])),
          states: new Map(memories.map(({ id, state }) => [id, state as ByUseMemory])),
          shared: shared as ByUseShared,
        };
      };
      const { learned, states, shared } = await learnedBy(byUse());
      const plain = await learnedBy(oar());
      const usual = sigmoid(-0.5 + shared.useBias);
      for (const [id, { effect, use }] of states) {
        const more = sigmoid(-0.5 + shared.useBias + side * (use[0] as number)) - usual;
        expect(more > 0).toBe((id === "used") === side > 0);
        const shift = scale * (0.5 * more + (more > 0 ? 1.5 * effect * more : 0));
        expect((learned.get(id) ?? 0) - (plain.learned.get(id) ?? 0)).toBeCloseTo(shift, 6);
      }
      expect(learned.get("other")).toBe(plain.learned.get("other"));
    }
  });

  it("shows for each kind of request the memory whose use goes with success", async () => {
    const tested = await live(testEngine({ learner: byUse() as Learner }), 60, (kind, id) => id.startsWith(kind));
    expect([(await order(tested, "a"))[0]?.[0], (await order(tested, "b"))[0]?.[0]]).toEqual(["a2", "b2"]);
    const { learner, items } = await tested.engine.rank({ ...asked("a", 5), record: false });
    expect(learner).toBe("by-use@1");
    for (const { score, similarity, learned, bonus, overlap } of items) {
      expect(score).toBeCloseTo(similarity + learned + bonus + overlap, 9);
    }
    expect(await replay(tested.engine)).toMatchObject({ identical: true });
  });

  it("puts memories that runs use above those that they do not, before anything is known of their effect", async () => {
    const { engine } = testEngine({ learner: byUse() as Learner });
    for (let run = 0; run < 10; run++) {
      const { episode, items } = await engine.rank({ ...asked("a", 5), keepOrder: true });
      const used = items.map(({ id }) => id).filter((id) => id === "c1");
      // Outcomes come as expected in the mean.
      await engine.end(episode, { reward: run % 2, tier: "verified", used });
    }
    const { items } = await engine.rank({ ...asked("a", 1), record: false });
    expect(items[0]?.id).toBe("c1");
  });

  it("ranks and learns as oar, to the bit, while no run tells its uses", async () => {
    const plain = await live(testEngine({ learner: oar() as Learner }), 40, () => undefined);
    const without = await live(testEngine({ learner: byUse() as Learner }), 40, () => undefined);
    for (const kind of ["a", "b"] as const) expect(await order(without, kind)).toEqual(await order(plain, kind));
    const states = async ({ engine }: Tested) =>
      (await exportState(engine)).memories.map(({ id, state }) => {
        const { evidence, reputation, information, vector } = state as ByUseMemory;
        return { id, evidence, reputation, information, vector };
      });
    expect(await states(without)).toEqual(await states(plain));
  });

  it("keeps closed gates closed: it draws no runs that could open them", async () => {
    const { engine } = await live(testEngine({ learner: byUse() as Learner }), 20, (kind, id) => id.startsWith(kind));
    const state = await exportState(engine);
    const none = { both: 0, reputationSurprise: 0, gateNumerator: 0 };
    const shared = { ...(state.shared as ByUseShared), ...none, reputations: 100, gateDenominator: 100 };
    const closed = testEngine({ learner: byUse() as Learner }).engine;
    await importState(closed, { ...state, shared });
    expect(await closed.rank({ ...asked("a", 2), record: false })).toMatchObject({ gate: 0 });
  });

  it("takes a run back with its uses when a better verdict replaces it", async () => {
    const lived = async (tiers: readonly ("user" | "verified")[]) => {
      const { engine } = testEngine({ learner: byUse() as Learner });
      for (let run = 0; run < 3; run++) {
        const { episode } = await engine.rank({ ...asked("a", 2), keepOrder: true });
        for (const tier of tiers) {
          await engine.report(episode, { reward: tier === "verified", tier, used: [run === 0 ? "b1" : "a1"] });
        }
        await engine.end(episode);
      }
      const { memories } = await exportState(engine);
      return memories.map(({ state }) => {
        const { effect, effectInformation, useInformation, use } = state as ByUseMemory;
        return [effect, effectInformation, useInformation, ...use];
      });
    };
    const alone = await lived(["verified"]);
    expect(await lived(["user", "verified"])).toEqual(alone.map((state) => state.map((one) => expect.closeTo(one, 6))));
  });
});
