import { describe, expect, expectTypeOf, it } from "vitest";
import * as core from "../src/index.js";
import {
  type Candidate,
  type CavMemory,
  type CavShared,
  cav,
  createEngine,
  createRunTokens,
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
  type PolicyReport,
  QavrError,
  type QavrMemory,
  type QavrShared,
  qavr,
  type RankedItem,
  type Ranking,
  type RankRequest,
  type ReplayReport,
  type RevocationReport,
  type Store,
  similarity,
} from "../src/index.js";

describe("the public surface", () => {
  it("exports at least these values: taking one away is a breaking change", () => {
    const promised = [
      "cav",
      "oar",
      "contentHash",
      "createEngine",
      "ENGINE_DEFAULTS",
      "ERROR_CODES",
      "hashedVector",
      "HASHED_DIMS",
      "ledgerReducer",
      "memoryStore",
      "OUTCOME_TIERS",
      "qavr",
      "QavrError",
      "similarity",
      "stateAddress",
      "STORE_LIMITS",
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
    expectTypeOf((engine: Engine) => engine.replay()).returns.toEqualTypeOf<Promise<ReplayReport>>();
    expectTypeOf((engine: Engine) => engine.replay({ write: true })).returns.toEqualTypeOf<Promise<ReplayReport>>();
    expectTypeOf((engine: Engine, learner: Learner) => engine.replay({ learner })).returns.toEqualTypeOf<
      Promise<PolicyReport>
    >();
    expectTypeOf<Engine["revoke"]>().returns.toEqualTypeOf<Promise<RevocationReport>>();
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
      void engine.importState({ memories: [], namespace: none, collection: none });
      void engine.replay({ namespace: none, write: none, learner: none });
      const tokens = createRunTokens({ engine, secret: [], clock: none });
      void tokens.issue({ episode: "e", source: "s", namespace: none, tier: none, weight: none, ttl: none });
      oar({ setting: none, halfLife: none });
      qavr({ learningRate: none, rewards: none });
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
    expectTypeOf(cav()).toExtend<Learner<CavShared, CavMemory>>();
    expectTypeOf(qavr()).toExtend<Learner<QavrShared, QavrMemory>>();
    expectTypeOf(similarity()).toExtend<Learner<null, null>>();
    for (const learner of [cav(), qavr(), similarity()]) {
      expect(createEngine({ store: memoryStore(), learner: learner as Learner }).learner).toBe(learner);
    }
  });

  it("narrows errors by code", () => {
    const error: unknown = new QavrError("NOT_SHOWN", "No.");
    if (!QavrError.isInstance(error)) throw error;
    expectTypeOf(error).toEqualTypeOf<QavrError>();
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
    expectTypeOf<"NOT_SHOWN">().toExtend<ErrorCode>();
  });
});
