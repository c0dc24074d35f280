import { createEngine, type Engine, memoryStore } from "@qavr/core";
import { prune, replay, voteScore } from "@qavr/core/maintenance";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { LocalMemories } from "../src/index.js";
import { collection, found } from "./support/collections.js";

const DAY = 86_400_000;
/** 2026-01-01 */
const START = 1_767_225_600_000;

interface Setup {
  readonly engine: Engine;
  readonly claims: LocalMemories;
  readonly clock: { now: number };
  /** Shows a memory in a run of its own, and votes on it. */
  vote(id: string, vote: "helpful" | "harmful", times?: number): Promise<void>;
}

/** Claims of an agent, added at the start. */
async function setup(ids: readonly string[], namespace = "default"): Promise<Setup> {
  const clock = { now: START };
  const engine = createEngine({ store: memoryStore(), clock: () => clock.now });
  onTestFinished(() => engine.close());
  const claims = collection({ name: "claims" }).of(namespace);
  await claims.add(ids.map((id) => ({ id, text: `claim ${id}`, createdAt: START })));
  return {
    engine,
    claims,
    clock,
    async vote(id, vote, times = 1) {
      for (let i = 0; i < times; i++) {
        const candidates = [{ id, similarity: 1 }];
        const { episode } = await engine.rank({ namespace, collection: "claims", candidates, topK: 1 });
        await engine.end(episode, { reward: null, [vote]: [id] });
      }
    },
  };
}

const idsOf = (memories: readonly { readonly id: string }[]): string[] => memories.map(({ id }) => id);

describe("the score of votes", () => {
  it.each([
    [0, 0, 0],
    [1, 0, 10 / 3],
    [0, 1, -10 / 3],
    [0, 2, -5],
    [0, 8, -8],
    [5, 5, 0],
  ])("R8: of %i helpful and %i harmful votes is %f", (helpful, harmful, score) => {
    expect(voteScore({ helpful, harmful })).toBeCloseTo(score, 12);
  });

  it("R8: lies in (−10, 10), and follows each vote", () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), (helpful, harmful) => {
        const score = voteScore({ helpful, harmful });
        expect(Math.abs(score)).toBeLessThan(10);
        expect(voteScore({ helpful: helpful + 1, harmful })).toBeGreaterThan(score);
        expect(voteScore({ helpful, harmful: harmful + 1 })).toBeLessThan(score);
      }),
    );
  });
});

describe("pruning", () => {
  it("R12: archives by score and idle days, at each boundary, and leaves memories without votes", async () => {
    const { engine, claims, clock, vote } = await setup(["fresh", "once", "twice", "often", "loved"]);
    await vote("once", "harmful");
    await vote("twice", "harmful", 2);
    await vote("often", "harmful", 8);
    await vote("loved", "helpful", 3);
    const prunedAfter = async (days: number): Promise<string[]> => {
      clock.now = START + days * DAY;
      return idsOf((await prune(engine, claims, { dryRun: true })).archived);
    };
    expect(await prunedAfter(0)).toEqual(["often"]);
    expect(await prunedAfter(90 - 1e-6)).toEqual(["often"]);
    expect(await prunedAfter(90)).toEqual(["twice", "often"]);
    expect(await prunedAfter(179)).toEqual(["twice", "often"]);
    expect(await prunedAfter(180)).toEqual(["once", "twice", "often"]);
    expect(await prunedAfter(-1)).toEqual(["often"]);
  });

  it("R12: changes nothing in a dry run, archives otherwise, and restores what it archived", async () => {
    const { engine, claims, clock, vote } = await setup(["good", "bad"]);
    await vote("bad", "harmful", 8);
    const planned = await prune(engine, claims, { dryRun: true });
    expect(planned).toMatchObject({ memories: 2, dryRun: true, archived: [{ id: "bad", score: -8, harmful: 8 }] });
    expect(await found(claims, "claim")).toHaveLength(2);
    expect((await engine.status()).lastPruned).toBeUndefined();

    clock.now += DAY;
    const { archived } = await prune(engine, claims);
    expect(archived).toEqual(planned.archived.map((memory) => ({ ...memory, unusedDays: 1 })));
    expect(await found(claims, "claim")).toEqual(["good"]);
    expect((await prune(engine, claims)).archived).toEqual([]);

    expect(await claims.restore(idsOf(archived))).toBe(1);
    expect(await found(claims, "claim")).toHaveLength(2);
    expect((await engine.memories({ collection: "claims", ids: ["bad"] })).memories[0]?.harmful).toBe(8);
  });

  it("R12: is noted in the ledger, also where nothing was archived, and teaches nothing", async () => {
    const { engine, claims, clock, vote } = await setup(["bad"]);
    await vote("bad", "harmful", 8);
    const before = (await engine.memories({ collection: "claims" })).memories;
    for (let day = 1; day <= 2; day++) {
      clock.now = START + day * DAY;
      await prune(engine, claims);
    }
    expect((await engine.status()).lastPruned).toBe(START + 2 * DAY);
    const { events } = await engine.history();
    expect(events.filter(({ type }) => type === "prune")).toMatchObject([
      { collection: "claims", ids: ["bad"], at: START + DAY },
      { collection: "claims", ids: [], at: START + 2 * DAY },
    ]);
    expect((await engine.memories({ collection: "claims" })).memories).toEqual(before);
    expect((await replay(engine)).identical).toBe(true);
  });

  it("R6: touches the memories of one agent, by the votes in its namespace", async () => {
    const { engine, claims, vote } = await setup(["shared id"], "bigquery");
    const other = claims.of("search");
    await other.add({ id: "shared id", text: "another agent's claim" });
    await vote("shared id", "harmful", 8);
    expect((await prune(engine, other)).memories).toBe(1);
    expect(idsOf((await prune(engine, claims)).archived)).toEqual(["shared id"]);
    expect([await claims.size(), await other.size()]).toEqual([0, 1]);
    expect((await engine.status({ namespace: "search" })).lastPruned).toBe(START);
  });

  it("R12: reads collections of many pages", async () => {
    const ids = Array.from({ length: 1_001 }, (_, i) => `c${i}`);
    const { engine, claims, vote } = await setup(ids);
    await vote("c1000", "harmful", 8);
    expect(await prune(engine, claims)).toMatchObject({ memories: 1_001, archived: [{ id: "c1000" }] });
  });

  it.each([
    ["a score that no number of votes reaches", { rules: [{ score: -10 }] }, /rules\[0\]: score must be above −10/],
    ["a score of memories without votes", { rules: [{ score: -3 }, { score: 0 }] }, /rules\[1\]: score .* below 0/],
    ["days below 0", { rules: [{ score: -3, unusedDays: -1 }] }, /rules\[0\]: unusedDays must be/],
    ["a misspelt field", { rules: [{ score: -3, days: 1 }] }, /no field days/],
    ["rules that are no list", { rules: { score: -3 } }, /must be a list/],
    ["a misspelt option", { dryrun: true }, /no field dryrun/],
  ])("R12: refuses %s", async (_, options, message) => {
    const { engine, claims } = await setup([]);
    await expect(prune(engine, claims, options as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(message),
    });
  });
});
