import { beforeEach, describe, expect, it } from "vitest";
import { createEngine, type ErrorCode, memoryStore, type OutcomeInput, oar, type RankRequest } from "../src/index.js";
import { copyLedger, exportState, forget, importState, prune, replay } from "../src/maintenance/index.js";
import { expectNothingDone, oneDoneOneOpen } from "./support/expect-nothing-done.js";
import { request, testEngine } from "./support/test-engine.js";

const LONG = "x".repeat(513);
const LONE = "a\ud800";

let tested: ReturnType<typeof testEngine>;
let open: string;

beforeEach(async () => {
  tested = testEngine();
  open = await oneDoneOneOpen(tested);
});

const expectRefused = (code: ErrorCode, call: () => unknown): Promise<void> =>
  expectNothingDone(tested, open, code, call);

describe("rank", () => {
  const cases: readonly (readonly [string, ErrorCode, Partial<Record<keyof RankRequest, unknown>>])[] = [
    ["a NaN in the vector", "INVALID_VECTOR", { vector: [1, Number.NaN, 0, 0] }],
    ["an infinite value in the vector", "INVALID_VECTOR", { vector: [Number.POSITIVE_INFINITY, 0, 0, 0] }],
    ["a value that float32 cannot hold", "INVALID_VECTOR", { vector: [1e39, 0, 0, 0] }],
    ["a hole in the vector", "INVALID_VECTOR", { vector: new Array(4) }],
    ["a text in the vector", "INVALID_VECTOR", { vector: ["1", 0, 0, 0] }],
    ["an empty vector", "INVALID_VECTOR", { vector: [] }],
    ["a vector of another length than its space", "INVALID_VECTOR", { vector: [1, 0, 0] }],
    ["a vector beyond any model's", "INVALID_VECTOR", { vector: new Float32Array(65_537).fill(1) }],
    ["a NaN similarity", "INVALID_SIMILARITY", { candidates: [{ id: "a", similarity: Number.NaN }] }],
    [
      "an infinite similarity",
      "INVALID_SIMILARITY",
      { candidates: [{ id: "a", similarity: Number.NEGATIVE_INFINITY }] },
    ],
    ["a similarity that float32 cannot hold", "INVALID_SIMILARITY", { candidates: [{ id: "a", similarity: 1e39 }] }],
    ["a similarity that is missing", "INVALID_SIMILARITY", { candidates: [{ id: "a" }] }],
    ["an empty memory id", "INVALID_ID", { candidates: [{ id: "", similarity: 1 }] }],
    ["a memory id that is no text", "INVALID_ID", { candidates: [{ id: 7, similarity: 1 }] }],
    ["a memory id with a lone surrogate", "INVALID_ID", { candidates: [{ id: LONE, similarity: 1 }] }],
    ["a memory id that is too long", "LIMIT_EXCEEDED", { candidates: [{ id: LONG, similarity: 1 }] }],
    ["candidates that are no array", "INVALID_ARGUMENT", { candidates: "abc" }],
    ["a vector that is null", "INVALID_VECTOR", { vector: null }],
    ["a negative topK", "INVALID_ARGUMENT", { topK: -1 }],
    ["a fractional topK", "INVALID_ARGUMENT", { topK: 1.5 }],
    ["a NaN topK", "INVALID_ARGUMENT", { topK: Number.NaN }],
    ["a fractional returned", "INVALID_ARGUMENT", { record: false, returned: 1.5 }],
    ["an infinite topK", "INVALID_ARGUMENT", { topK: Number.POSITIVE_INFINITY }],
    ["an empty namespace", "INVALID_ID", { namespace: "" }],
    ["a namespace that is too long", "LIMIT_EXCEEDED", { namespace: LONG }],
    ["an empty collection", "INVALID_ID", { collection: "" }],
    ["a collection that is too long", "LIMIT_EXCEEDED", { collection: "x".repeat(257) }],
    ["an empty context", "INVALID_ID", { context: "" }],
    ["an empty space", "INVALID_ID", { space: "" }],
    ["an alias with a lone surrogate", "INVALID_ID", { aliases: ["fine", LONE] }],
    ["an unknown episode", "UNKNOWN_EPISODE", { episode: "nobody" }],
    ["words for a switch", "INVALID_ARGUMENT", { record: "false" }],
    ["a number for a switch", "INVALID_ARGUMENT", { keepOrder: 1 }],
    [
      "a text of a shown candidate that is none",
      "INVALID_ARGUMENT",
      { candidates: [{ id: "a", similarity: 1, text: ["b"] }] },
    ],
    [
      "a label of a shown candidate that is too long",
      "INVALID_ARGUMENT",
      { candidates: [{ id: "a", similarity: 1, label: "x".repeat(81) }] },
    ],
    [
      "a label of a shown candidate that is no text",
      "INVALID_ARGUMENT",
      { candidates: [{ id: "a", similarity: 1, label: 7 }] },
    ],
    [
      "a label of a shown candidate with a lone surrogate",
      "INVALID_ARGUMENT",
      { candidates: [{ id: "a", similarity: 1, label: LONE }] },
    ],
    ["an empty group", "INVALID_ID", { candidates: [{ id: "a", similarity: 1, group: "" }] }],
    ["a group that is no text", "INVALID_ID", { candidates: [{ id: "a", similarity: 1, group: 7 }] }],
    ["a misspelt namespace, which would learn in another one", "INVALID_ARGUMENT", { namespce: "tenant" } as object],
  ];

  it.each(cases)("refuses %s with %s and changes nothing", async (_, code, overrides) => {
    await expectRefused(code, () => tested.engine.rank(request(overrides as Partial<RankRequest>)));
    await expectRefused(code, () =>
      tested.engine.rank(request({ episode: open, ...(overrides as Partial<RankRequest>) })),
    );
  });

  it("refuses an episode of another namespace", async () => {
    await expectRefused("UNKNOWN_EPISODE", () => tested.engine.rank(request({ episode: open, namespace: "other" })));
  });
});

describe("fetchSize", () => {
  it.each([
    ["a negative topK", "INVALID_ARGUMENT", { topK: -1 }],
    ["a fractional topK", "INVALID_ARGUMENT", { topK: 1.5 }],
    ["a NaN fetchK", "INVALID_ARGUMENT", { topK: 3, fetchK: Number.NaN }],
    ["a negative fetchK", "INVALID_ARGUMENT", { topK: 3, fetchK: -3 }],
    ["an empty namespace", "INVALID_ID", { topK: 3, namespace: "" }],
  ] as const)("refuses %s with %s", async (_, code, overrides) => {
    await expectRefused(code, () => tested.engine.fetchSize(overrides));
  });
});

describe("an outcome", () => {
  const cases: readonly (readonly [string, ErrorCode, Partial<Record<keyof OutcomeInput, unknown>>])[] = [
    ["a reward below 0", "INVALID_REWARD", { reward: -0.1 }],
    ["a reward above 1", "INVALID_REWARD", { reward: 1.1 }],
    ["a NaN reward", "INVALID_REWARD", { reward: Number.NaN }],
    ["a reward that is a text", "INVALID_REWARD", { reward: "1" }],
    ["a weight of 0", "INVALID_REWARD", { reward: 1, weight: 0 }],
    ["a weight above 1", "INVALID_REWARD", { reward: 1, weight: 1.01 }],
    ["a NaN weight", "INVALID_REWARD", { reward: 1, weight: Number.NaN }],
    ["an unknown tier", "INVALID_ARGUMENT", { reward: 1, tier: "oracle" }],
    ["an empty source", "INVALID_ID", { reward: 1, source: "" }],
    ["a helpful vote for a memory not shown", "NOT_SHOWN", { reward: 1, helpful: ["d0", "d9"] }],
    ["a harmful vote for a memory not shown", "NOT_SHOWN", { reward: 1, harmful: ["m4"] }],
    ["use of a memory not shown", "NOT_SHOWN", { reward: 1, used: ["nobody"] }],
    ["votes that are no array", "INVALID_ARGUMENT", { reward: 1, helpful: "d0" }],
    ["a vote for an empty id", "INVALID_ID", { reward: 1, helpful: [""] }],
    ["an empty idempotency key", "INVALID_ID", { reward: 1, idempotencyKey: "" }],
    ["an idempotency key that is too long", "LIMIT_EXCEEDED", { reward: 1, idempotencyKey: "x".repeat(501) }],
  ];

  it.each(cases)(
    "with %s is refused with %s, at an end and in a report, and changes nothing",
    async (_, code, input) => {
      const outcome = input as OutcomeInput;
      await expectRefused(code, () => tested.engine.end(open, outcome));
      await expectRefused(code, () => tested.engine.report("open", outcome));
      await expectRefused(code, () => tested.engine.report("done", outcome));
    },
  );

  it("for an unknown episode is refused", async () => {
    await expectRefused("UNKNOWN_EPISODE", () => tested.engine.end("nobody", { reward: 1 }));
    await expectRefused("UNKNOWN_EPISODE", () => tested.engine.report("nobody", { reward: 1 }));
    await expectRefused("UNKNOWN_EPISODE", () => tested.engine.report("done", { reward: 1 }, { namespace: "other" }));
    await expectRefused("UNKNOWN_EPISODE", () => tested.engine.end(open, { reward: 1 }, { namespace: "other" }));
    await expectRefused("INVALID_ID", () => tested.engine.report("", { reward: 1 }));
    for (const namespace of ["", null as never]) {
      await expectRefused("INVALID_ID", () => tested.engine.report("done", { reward: 1 }, { namespace }));
      await expectRefused("INVALID_ID", () => tested.engine.end(open, { reward: 1 }, { namespace }));
    }
  });

  it("accepts the bounds themselves", async () => {
    const { engine } = tested;
    for (const input of [
      { reward: 0 },
      { reward: 1 },
      { reward: 0.5, weight: 1e-6 },
      { reward: 1, idempotencyKey: "x".repeat(500) },
    ]) {
      await expect(engine.report("done", input)).resolves.toMatchObject({ status: "committed" });
    }
  });
});

it("a note that is too long is not repeated in the error", async () => {
  const note = "the customer said ".repeat(200);
  const error = await tested.engine.report("done", { reward: true, note }).catch((refusal: unknown) => refusal);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { option: "note", received: "3600" } });
  expect(String(error)).not.toContain("customer");
});

it("a word in the place of an object is repeated in quotes, a longer text is not: it may be a request", async () => {
  await expect(tested.engine.status("tenant" as never)).rejects.toThrow('Received "tenant".');
  for (const request of ["my card is blocked", "x".repeat(81)]) {
    const error = await tested.engine.rank(request as never).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { received: '"a text"' } });
    expect(String(error)).not.toContain(request);
  }
});

describe("other calls", () => {
  it("refuse an outcome with a field that is misspelt, which would teach nothing", async () => {
    const { engine } = tested;
    for (const outcome of [{ rewrad: 1 }, { success: true }, { reward: 1, votes: [] }]) {
      await expectRefused("INVALID_ARGUMENT", () => engine.report("done", outcome as never));
      await expectRefused("INVALID_ARGUMENT", () => engine.end(open, outcome as never));
    }
  });

  it("refuse names that no store could keep apart", async () => {
    const { engine } = tested;
    await expectRefused("INVALID_ID", () => engine.open({ namespace: "" }));
    await expectRefused("INVALID_ID", () => engine.open({ aliases: [""] }));
    await expectRefused("INVALID_ID", () => engine.alias(open, [LONE]));
    await expectRefused("INVALID_ID", () => engine.suspend(open, { alias: "" }));
    await expectRefused("INVALID_ID", () => engine.resume(""));
    await expectRefused("INVALID_ID", () => engine.resume("a", { namespace: "" }));
    await expectRefused("INVALID_ID", () => engine.explain(""));
    await expectRefused("INVALID_ID", () => engine.status({ namespace: "" }));
    await expectRefused("INVALID_ID", () => replay(engine, { namespace: "" }));
    await expectRefused("INVALID_ID", () => forget(engine, { namespace: "" }));
    await expectRefused("INVALID_ID", () => forget(engine, { namespace: "default", ids: ["a", ""] }));
    await expectRefused("LIMIT_EXCEEDED", () =>
      forget(engine, { namespace: "default", collection: "x".repeat(300), ids: ["a"] }),
    );
    await expectRefused("INVALID_ID", () => exportState(engine, { namespace: "" }));
    await expectRefused("INVALID_ID", () => importState(engine, { memories: [{ id: "", state: {} }] }));
  });

  it("refuse imported states that no request could have made", async () => {
    const { engine } = tested;
    const state = { evidence: 1, advantage: 1, vector: new Float32Array(1_025) };
    await expectRefused("INVALID_STATE", () => importState(engine, { memories: [{ id: "a", state }] }));
  });

  it("refuse episodes that are not open", async () => {
    const { engine } = tested;
    await expectRefused("UNKNOWN_EPISODE", () => engine.alias("nobody", ["x"]));
    await expectRefused("UNKNOWN_EPISODE", () => engine.narrow("nobody", 0, []));
    await expectRefused("UNKNOWN_EPISODE", () => engine.suspend("nobody", { alias: "x" }));
  });
});

describe("createEngine", () => {
  it.each([
    ["no store", { store: undefined }],
    ["something that is no store", { store: "ledger.db" }],
    ["a time to live of 0", { episodeTtl: 0 }],
    ["a NaN time to live", { episodeTtl: Number.NaN }],
    ["a negative outcome window", { outcomeWindow: -1 }],
    ["a limit of 0 open episodes", { maxOpenEpisodes: 0 }],
    ["a fractional limit", { maxOpenEpisodes: 1.5 }],
    ["no recorded candidates", { recordedCandidates: 0 }],
    ["an unknown edit policy", { onEdit: "forget" }],
    ["a misspelt option", { onedit: "keep" }],
    ["a text for a time", { outcomeWindow: "86400000" }],
    ["a BigInt for a time", { episodeTtl: 1000n }],
    ["true for a time", { readTimeout: true }],
    ["a timeout of 0", { readTimeout: 0 }],
    ["a negative timeout", { writeTimeout: -1 }],
    ["a NaN timeout", { writeTimeout: Number.NaN }],
    ["a negative share", { holdout: -0.1 }],
    ["a share above 1", { memoryOff: 1.1 }],
    ["a NaN share", { holdout: Number.NaN }],
    ["a text for a share", { holdout: "0.5" }],
    ["a learner that is none", { learner: {} }],
    ["no learner", { learner: null }],
    ["a switch that is neither on nor off", { enabled: "no" }],
    ["a time for a clock", { clock: Date.now() }],
    ["no clock", { clock: null }],
    ["an id for what makes ids", { createId: "id" }],
    ["a number for a timer", { setTimer: 5 }],
  ])("refuses %s", (_, options) => {
    expect(() => createEngine({ store: memoryStore(), ...options } as never)).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });

  it.each([undefined, {}])("refuses %j in the place of options", (options) => {
    expect(() => createEngine(options as never)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});

describe("what is no object or no list at all", () => {
  const as = (value: unknown): never => value as never;

  it.each([
    ["no request", () => tested.engine.rank(as(undefined))],
    ["a candidate that is null", () => tested.engine.rank({ ...request(), candidates: [as(null)] })],
    ["a request's text that is no string", () => tested.engine.rank({ ...request(), text: as(7) })],
    ["aliases in one string", () => tested.engine.rank({ ...request(), aliases: as("run") })],
    ["aliases in one string, to open", () => tested.engine.open({ aliases: as("run") })],
    ["aliases in one string, to add", () => tested.engine.alias(open, as("run"))],
    ["ids in one string, to forget", () => forget(tested.engine, { namespace: "default", ids: as("ab") })],
    ["nothing to forget", () => forget(tested.engine, as(undefined))],
    ["nothing to suspend under", () => tested.engine.suspend(open, as(undefined))],
    ["no outcome", () => tested.engine.report("done", as(undefined))],
    ["an outcome that is a number", () => tested.engine.end(open, as(1))],
    ["ids in one string, to narrow", () => tested.engine.narrow(open, 0, as("d0"))],
    ["nothing to import", () => importState(tested.engine, as(null))],
    ["nothing to prune", () => prune(tested.engine, as(undefined))],
    ["a collection without a list, to prune", () => prune(tested.engine, as({ name: "notes" }))],
    ["nothing to copy", () => copyLedger(as(undefined))],
    ["a copy to no store", () => copyLedger({ from: memoryStore(), to: as(null), namespace: "a", learner: oar() })],
    [
      "a memory that is named both as helpful and as harmful",
      () => tested.engine.report("done", { helpful: ["m1"], harmful: ["m1"] }),
    ],
  ])("is refused: %s", async (_, call) => {
    await expectRefused("INVALID_ARGUMENT", call);
  });

  it.each([
    ["rank", () => tested.engine.rank({ ...request(), namespace: as(null) })],
    ["report", () => tested.engine.report("done", {}, { namespace: as(null) })],
    ["status", () => tested.engine.status({ namespace: as(null) })],
  ])("does not take null for the default namespace: %s", async (_, call) => {
    await expectRefused("INVALID_ID", call);
  });
});

describe("the aliases of an episode", () => {
  it("are at most ten thousand, refused before any work, and the episode goes on", async () => {
    const { engine } = testEngine();
    const names = Array.from({ length: 200_000 }, (_, i) => `alias ${i}`);
    const refusal = expect.objectContaining({ code: "LIMIT_EXCEEDED" });
    expect(() => engine.open({ aliases: names })).toThrow(refusal);
    await expect(engine.rank(request({ aliases: names }))).rejects.toEqual(refusal);
    expect(engine.health()).toMatchObject({ openEpisodes: 0 });

    const { episode } = await engine.rank(request({ aliases: names.slice(0, 9_990) }));
    expect(() => engine.alias(episode, names.slice(9_990, 10_001))).toThrow(refusal);
    await expect(engine.rank(request({ episode, aliases: names.slice(9_990, 10_001) }))).rejects.toEqual(refusal);
    engine.alias(episode, names.slice(9_990, 10_000));
    await engine.end(episode, { reward: true });
    expect(await engine.report("alias 9999", { reward: false, tier: "verified" })).toMatchObject({ episode });
    expect(await engine.explain(episode)).toMatchObject({ exposures: [{}] });
  });
});
