import { describe, expect, expectTypeOf, it } from "vitest";
import { createRunTokens } from "../src/governance/index.js";
import * as core from "../src/index.js";
import {
  type Candidate,
  createEngine,
  type Engine,
  type EngineOptions,
  type EpisodeView,
  type ErrorCode,
  type Learner,
  memoryStore,
  type NamespaceStatus,
  type OutcomeInput,
  type OutcomeReceipt,
  type OutcomeTier,
  oar,
  QavrError,
  qValue,
  type RankedItem,
  type Ranking,
  type RankRequest,
  type Store,
  similarity,
} from "../src/index.js";
import type { OarMemory, OarShared, QValueShared, QValueState } from "../src/learners/index.js";
import {
  comparePolicies,
  importState,
  type PolicyReport,
  type PrunableCollection,
  type ReplayReport,
  type RevocationReport,
  replay,
  revoke,
} from "../src/maintenance/index.js";

describe("the public surface", () => {
  it("exports at least these values: taking one away is a breaking change", () => {
    const promised = [
      "oar",
      "createEngine",
      "ENGINE_DEFAULTS",
      "ERROR_CODES",
      "memoryStore",
      "OUTCOME_TIERS",
      "qValue",
      "QavrError",
      "similarity",
    ];
    expect(Object.keys(core)).toEqual(expect.arrayContaining(promised));
  });

  it("types what the engine takes and gives", () => {
    expectTypeOf(createEngine).parameters.toEqualTypeOf<[EngineOptions]>();
    expectTypeOf(createEngine).returns.toEqualTypeOf<Engine>();
    expectTypeOf<Engine["rank"]>().toEqualTypeOf<(request: RankRequest) => Promise<Ranking>>();
    expectTypeOf<Engine["end"]>().returns.toEqualTypeOf<Promise<OutcomeReceipt | undefined>>();
    expectTypeOf<Engine["report"]>().returns.toEqualTypeOf<Promise<OutcomeReceipt>>();
    expectTypeOf<Engine["explain"]>().returns.toEqualTypeOf<Promise<EpisodeView | undefined>>();
    expectTypeOf<Engine["resume"]>().returns.toEqualTypeOf<Promise<string | undefined>>();
    expectTypeOf<Engine["status"]>().returns.toEqualTypeOf<Promise<NamespaceStatus>>();
    expectTypeOf(replay).returns.toEqualTypeOf<Promise<ReplayReport>>();
    expectTypeOf(comparePolicies).returns.toEqualTypeOf<Promise<PolicyReport>>();
    expectTypeOf(revoke).returns.toEqualTypeOf<Promise<RevocationReport>>();
    expectTypeOf<Engine["open"]>().returns.toEqualTypeOf<string>();
  });

  it("asks for a store and nothing else", () => {
    expectTypeOf<{ store: Store }>().toExtend<EngineOptions>();
    // @ts-expect-error a store is needed
    expect(() => createEngine({})).toThrow();
    expectTypeOf(memoryStore).returns.toEqualTypeOf<Store>();
  });

  it("takes a request with candidates and topK, and any array of numbers as its vector", () => {
    const request: RankRequest = { candidates: [{ id: "a", similarity: 1 }], topK: 1 };
    expectTypeOf(request).toExtend<RankRequest>();
    expectTypeOf<{ candidates: Candidate[]; topK: number; vector: Float32Array }>().toExtend<RankRequest>();
    expectTypeOf<{ candidates: Candidate[]; topK: number; vector: readonly number[] }>().toExtend<RankRequest>();
    // @ts-expect-error topK is needed
    const wrong: RankRequest = { candidates: [] };
    expect(wrong).toBeDefined();
  });

  it("takes an option that is undefined for absent", () => {
    const call = (engine: Engine, none: undefined): void => {
      void engine.fetchSize({ topK: 1, namespace: none, fetchK: none });
      void importState(engine, { memories: [], namespace: none, collection: none });
      void replay(engine, { namespace: none, write: none });
      const tokens = createRunTokens({ engine, secret: [], clock: none });
      void tokens.issue({ episode: "e", source: "s", namespace: none, tier: none, weight: none, ttl: none });
      oar({ halfLife: none });
      qValue({ learningRate: none, rewards: none });
    };
    expect(call).toBeTypeOf("function");
  });

  it("gives rankings and views that cannot be changed by accident", () => {
    const change = (ranking: Ranking, item: RankedItem): void => {
      // @ts-expect-error items are read-only
      ranking.items.push(item);
      // @ts-expect-error scores are read-only
      item.score = 1;
    };
    expect(change).toBeTypeOf("function");
  });

  it("takes booleans, numbers and null as a reward, and only known tiers", () => {
    expectTypeOf<OutcomeInput["reward"]>().toEqualTypeOf<number | boolean | null | undefined>();
    expectTypeOf<OutcomeTier>().toEqualTypeOf<"verified" | "user" | "observed" | "self-reported" | "completed">();
    // @ts-expect-error no such tier
    const wrong: OutcomeInput = { tier: "oracle" };
    expect(wrong).toBeDefined();
  });

  it("types each learner by its own states, and takes any as an engine's learner", () => {
    expectTypeOf(oar()).toExtend<Learner<OarShared, OarMemory>>();
    expectTypeOf(qValue()).toExtend<Learner<QValueShared, QValueState>>();
    expectTypeOf(similarity()).toExtend<Learner<null, null>>();
    for (const learner of [oar(), qValue(), similarity()]) {
      expect(createEngine({ store: memoryStore(), learner: learner as Learner }).learner).toBe(learner);
    }
  });

  it("lets the namespace and the next page of an own collection be there and undefined", () => {
    expectTypeOf({
      name: "rows",
      namespace: undefined as string | undefined,
      list: async () => ({ memories: [{ id: "a", createdAt: 0 }], next: undefined as string | undefined }),
      archive: async () => 0,
    }).toExtend<PrunableCollection>();
  });

  it("narrows errors by code", () => {
    const error: unknown = new QavrError("NOT_SHOWN", "No.");
    if (!QavrError.isInstance(error)) throw error;
    expectTypeOf(error).toEqualTypeOf<QavrError>();
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
    expectTypeOf<"NOT_SHOWN">().toExtend<ErrorCode>();
    if (QavrError.isInstance(error, "NOT_SHOWN")) expectTypeOf(error.code).toEqualTypeOf<"NOT_SHOWN">();
    else expectTypeOf(error).toEqualTypeOf<QavrError>();
    // @ts-expect-error filter() would pass an index as the code
    expect([error].filter(QavrError.isInstance)).toEqual([]);
  });
});
