import { beforeEach, describe, expect, it } from "vitest";
import { createRunTokens } from "../src/governance/index.js";
import { createEngine, type ErrorCode, memoryStore, oar, qValue } from "../src/index.js";
import { contentHash, hashedVector } from "../src/learners/index.js";
import { compact, exportState, forget, importState, repair, replay, revoke, verify } from "../src/maintenance/index.js";

import { expectNothingDone, oneDoneOneOpen } from "./support/expect-nothing-done.js";
import { DAY, request, testEngine } from "./support/test-engine.js";

let tested: ReturnType<typeof testEngine>;
let open: string;

beforeEach(async () => {
  tested = testEngine();
  open = await oneDoneOneOpen(tested);
});

const expectRefused = (code: ErrorCode, call: () => unknown): Promise<void> =>
  expectNothingDone(tested, open, code, call);

describe("options of a call", () => {
  const calls: Readonly<Record<string, (options: never) => unknown>> = {
    fetchSize: (options) => tested.engine.fetchSize(options),
    open: (options) => tested.engine.open(options),
    end: (options) => tested.engine.end(open, { reward: 1 }, options),
    report: (options) => tested.engine.report("done", { reward: 1 }, options),
    suspend: (options) => tested.engine.suspend(open, options),
    resume: (options) => tested.engine.resume("done", options),
    explain: (options) => tested.engine.explain("done", options),
    status: (options) => tested.engine.status(options),
    exportState: (options) => exportState(tested.engine, options),
    importState: (options) => importState(tested.engine, options),
    replay: (options) => replay(tested.engine, options),
    revoke: (options) => revoke(tested.engine, options),
    compact: (options) => compact(tested.engine, options),
    forget: (options) => forget(tested.engine, options),
    verify: (options) => verify(tested.engine, options),
    repair: (options) => repair(tested.engine, options),
  };

  it.each(Object.entries(calls))("of %s are refused when they are no object", async (_, call) => {
    const unheard = [Promise.resolve({ namespace: "tenant" }), new Map([["namespace", "tenant"]])];
    for (const options of [null, "tenant", 7, ["tenant"], true, ...unheard]) {
      await expectRefused("INVALID_ARGUMENT", () => call(options as never));
    }
  });

  it.each(Object.entries(calls))("of %s are refused when one is misspelt", async (_, call) => {
    const rest = { memories: [], source: "user", topK: 3, alias: "later" };
    await expectRefused("INVALID_ARGUMENT", () => call({ ...rest, namespce: "tenant" } as never));
  });

  it("are refused where a misspelt age would drop what nobody wanted dropped", async () => {
    tested.clock.now += 60 * DAY;
    await expectRefused("INVALID_ARGUMENT", () =>
      compact(tested.engine, { namespace: "default", olderthan: 365 * DAY } as never),
    );
  });

  it("are refused when a switch is neither on nor off", async () => {
    const { engine } = tested;
    await expectRefused("INVALID_ARGUMENT", () => replay(engine, { write: "false" as never }));
    await expectRefused("INVALID_ARGUMENT", () =>
      revoke(engine, { namespace: "default", source: "user", dryRun: 0 as never }),
    );
  });
});

describe("an end", () => {
  it.each([false, 0, "", null, Number.NaN])(
    "with %s for an outcome is refused, and not taken for none",
    async (outcome) => {
      await expectRefused("INVALID_ARGUMENT", () => tested.engine.end(open, outcome as never));
    },
  );

  it("with an outcome that nobody waited for is refused, and not taken for an unknown one", async () => {
    const judged = Promise.resolve({ reward: 1 });
    await expectRefused("INVALID_ARGUMENT", () => tested.engine.end(open, judged as never));
    await expectRefused("INVALID_ARGUMENT", () => tested.engine.report("done", judged as never));
  });

  it.each([1, "0", ["0"], [0.5], [Number.NaN], [undefined]])(
    "refuses %j for exposures without credit",
    async (uncredited) => {
      await expectRefused("INVALID_ARGUMENT", () =>
        tested.engine.end(open, { reward: 1 }, { uncredited: uncredited as never }),
      );
    },
  );

  it("knows a reward of −0 for one of 0", async () => {
    const { engine } = tested;
    await engine.report("done", { reward: -0, idempotencyKey: "zero" });
    await expect(engine.report("done", { reward: 0, idempotencyKey: "zero" })).resolves.toMatchObject({
      status: "duplicate",
    });
  });
});

describe("narrow", () => {
  it.each([undefined, Number.NaN, "0", 0.5])("refuses %j, which names no exposure", async (exposure) => {
    await expectRefused("INVALID_ARGUMENT", () => tested.engine.narrow(open, exposure as never, ["d0"]));
  });
});

describe("a value that cannot be printed", () => {
  const unprintable = [
    ["a symbol", Symbol("x")],
    ["an object without a prototype", Object.create(null)],
    [
      "an object whose toString fails",
      {
        toString() {
          throw new Error("no");
        },
      },
    ],
    ["a text of megabytes", "x".repeat(5_000_000)],
  ] as const;

  it.each(unprintable)("is refused like any other: %s", async (_, value) => {
    const { engine } = tested;
    const as = value as never;
    await expectRefused("INVALID_ARGUMENT", () => engine.rank(request({ topK: as })));
    await expectRefused("INVALID_SIMILARITY", () =>
      engine.rank(request({ candidates: [{ id: "a", similarity: as }] })),
    );
    await expectRefused("INVALID_VECTOR", () => engine.rank(request({ vector: [as] })));
    await expectRefused("INVALID_REWARD", () => engine.end(open, { reward: as }));
    await expectRefused("INVALID_REWARD", () => engine.end(open, { weight: as }));
    await expectRefused("INVALID_ARGUMENT", () => engine.end(open, { tier: as }));
    await expectRefused("INVALID_ARGUMENT", () => engine.narrow(open, as, []));
    await expectRefused("INVALID_ARGUMENT", () => compact(engine, { namespace: "default", olderThan: as }));
    await expectRefused("INVALID_ARGUMENT", () => revoke(engine, { namespace: "default", from: as }));
    await expectRefused("UNKNOWN_EPISODE", () => engine.end(as));
    await expectRefused("INVALID_ARGUMENT", async () => createEngine({ store: memoryStore(), readTimeout: as }));
    await expectRefused("INVALID_ARGUMENT", async () => oar({ halfLife: as }));
    const error = await engine.end(open, { reward: as }).catch((thrown: Error) => thrown);
    expect((error as Error).message.length).toBeLessThan(300);
  });
});

describe("run tokens", () => {
  it("refuse options and grants that are misspelt or of another kind", async () => {
    const { engine } = tested;
    const secret = new Uint8Array(32).fill(1);
    for (const options of [undefined, null, {}, { secret }, { engine: {}, secret }, { engine, secret, clok: 1 }]) {
      await expectRefused("INVALID_ARGUMENT", async () => createRunTokens(options as never));
    }
    const tokens = createRunTokens({ engine, secret });
    for (const field of [{ namespce: "tenant" }, { teir: "user" }, { weight: "0.5" }]) {
      const grant = { episode: open, source: "user 17", ...field };
      await expectRefused("INVALID_ARGUMENT", () => tokens.issue(grant as never));
    }
  });
});

describe("options that an object has from its class", () => {
  class Settings {
    readonly store = memoryStore();
    get holdout(): number {
      return 2;
    }
  }

  it("are heard by an engine", () => {
    expect(() => createEngine(new Settings())).toThrowError(
      expect.objectContaining({ details: { option: "holdout", received: "2" } }),
    );
  });

  it("are heard by a learner", () => {
    for (const options of [{ learningRate: 7 }, { rewards: Object.create({ used: 7 }) }]) {
      expect(() => qValue(Object.create(options))).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });
});

describe("learners", () => {
  it.each([
    ["oar", null],
    ["oar", "guard"],
    ["oar", { halflife: 60_000 }],
    ["qValue", null],
    ["qValue", "x"],
    ["qValue", { learning_rate: 0.5 }],
    ["qValue", { rewards: { verifed: 1 } }],
    ["qValue", { rewards: null }],
  ])("refuse options that would do nothing: %s, %j", (name, options) => {
    const make: (options: never) => unknown = name === "oar" ? oar : qValue;
    expect(() => make(options as never)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("take an option that is undefined for absent", () => {
    expect(qValue({ learningRate: undefined, rewards: undefined } as never).id).toBe(qValue().id);
    expect(oar({ halfLife: undefined } as never).id).toBe("oar@2");
  });
});

describe("texts", () => {
  it.each([undefined, null, 7, {}, ["a"]])("refuse %j", (text) => {
    for (const call of [hashedVector, contentHash]) {
      expect(() => call(text as never)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });

  it("of candidates may be null, as databases have it", async () => {
    const candidates = [{ id: "a", similarity: 1, text: null as never }];
    const { items } = await tested.engine.rank(request({ candidates, text: "what now" }));
    expect(items.map(({ id }) => id)).toEqual(["a"]);
  });
});
