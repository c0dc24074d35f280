import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { memoryStore, type Store } from "@qavr/core";
import { describe, expect, it, vi } from "vitest";
import { type Qavr, type QavrOptions, qavr } from "../src/index.js";
import { type Bench, bench, type Line, QUESTION } from "./support/bench.js";
import { OwnRetriever } from "./support/own-retriever.js";

const SECRET = "the patient's name is Ada";
const THREAD = { metadata: { thread_id: "T1" } };

const secretly = (): never => {
  throw new SyntaxError(`Unexpected token in ${SECRET}`);
};

/** A store of which one method fails with a secret in its message. */
function leaking(method: "commit" | "readStates"): Store {
  return { ...memoryStore(), [method]: () => Promise.reject(new Error(SECRET)) };
}

/** A tracked run that retrieves, reports and ends. */
async function run({ memory, retriever }: Bench): Promise<void> {
  const tool = memory.reportOutcomeTool();
  const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
    await retriever.invoke(question, config);
    await tool.invoke({ success: true }, config);
  });
  await memory.track(chain).invoke(QUESTION, THREAD);
}

/** Replaces an engine method, for failures that no store and no option can cause. */
function failingEngine(memory: Qavr, method: "narrow" | "alias"): void {
  Object.assign(memory.engine, { [method]: secretly });
}

const told = (lines: readonly Line[], code: string, debug: boolean): Line[] =>
  lines.filter((line) => line.code === code && (line.level === "debug") === debug);

describe("log lines", () => {
  const failures: [code: string, what: string, options: QavrOptions, error: object][] = [
    ["EVALUATE_FAILED", "evaluate throws", { evaluate: secretly }, { error: "SyntaxError" }],
    ["RANKING_FAILED", "idOf throws", { idOf: secretly }, { error: "SyntaxError" }],
    [
      "RANKING_FAILED",
      "a function that names the namespace throws",
      { namespace: secretly },
      { error: "QavrError", reason: "INVALID_ARGUMENT" },
    ],
    [
      "OUTCOME_NOT_RECORDED",
      "the store refuses a commit",
      { store: leaking("commit") },
      { error: "QavrError", reason: "STORE_FAILED" },
    ],
    [
      "EPISODE_NOT_RESUMED",
      "the store refuses a read",
      { store: leaking("readStates") },
      { error: "QavrError", reason: "STORE_FAILED" },
    ],
  ];

  it.each(failures)("of %s, when %s, name the error and keep its message for the debug level", async (...failure) => {
    const [code, , options, error] = failure;
    const setup = await bench(options);
    await run(setup);
    const loud = told(setup.lines, code, false);
    expect(loud.length).toBeGreaterThan(0);
    for (const line of loud) expect(line).toMatchObject(error);
    expect(told(setup.lines, code, true).map((line) => String(line.error))).toContainEqual(
      expect.stringContaining(SECRET),
    );
    const own = setup.lines.filter((line) => line.level !== "debug" && line.code === code);
    expect(JSON.stringify(own)).not.toContain(SECRET);
  });

  it("name the error only, when what a retriever returned cannot be noted", async () => {
    const setup = await bench();
    failingEngine(setup.memory, "narrow");
    const outer = new OwnRetriever(async (question, config) =>
      (await setup.retriever.invoke(question, config)).slice(0, 1),
    );
    await setup.memory
      .track(RunnableLambda.from((question: string, config: RunnableConfig) => outer.invoke(question, config)))
      .invoke(QUESTION);
    expect(told(setup.lines, "OUTCOME_NOT_RECORDED", false)).toMatchObject([{ error: "SyntaxError" }]);
    expect(told(setup.lines, "OUTCOME_NOT_RECORDED", true)).toHaveLength(1);
    expect(JSON.stringify(told(setup.lines, "OUTCOME_NOT_RECORDED", false))).not.toContain(SECRET);
  });

  it.each([
    ["a string", SECRET, "string"],
    ["an object without a prototype", Object.create(null), "object"],
    ["an object that cannot be read", unreadable(), "unknown"],
    ["nothing", undefined, undefined],
  ])("survive %s being thrown", async (_what, thrown, name) => {
    const lines: Record<string, unknown>[] = [];
    const memory = qavr({
      store: memoryStore(),
      logger: { warn: (_message, fields) => lines.push(fields) },
      evaluate: () => {
        throw thrown;
      },
    });
    const { vectors } = await bench();
    const retriever = memory.retriever(vectors, { k: 1 });
    const chain = RunnableLambda.from((question: string, config: RunnableConfig) => retriever.invoke(question, config));
    expect(await memory.track(chain).invoke(QUESTION)).toHaveLength(1);
    expect(lines.map(({ code, error }) => [code, error])).toEqual([["EVALUATE_FAILED", name]]);
  });

  it("of a logger that writes asynchronously may fail later", async () => {
    const rejected = vi.fn();
    process.on("unhandledRejection", rejected);
    const away = async (): Promise<never> => Promise.reject(new Error("the log server is away"));
    const memory = qavr({ store: memoryStore(), logger: { warn: away, debug: away }, namespace: () => "" });
    const { vectors } = await bench();
    await memory.recall(vectors, QUESTION);
    await new Promise((resolve) => setTimeout(resolve));
    process.off("unhandledRejection", rejected);
    expect(rejected).not.toHaveBeenCalled();
  });
});

function unreadable(): object {
  return {
    get name(): string {
      throw new Error("no name");
    },
  };
}
