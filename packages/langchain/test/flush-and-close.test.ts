import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { memoryStore, type Store } from "@qavr/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";
import { bench, RUN_ID } from "./support/bench.js";
import { retrieving } from "./support/retrieving.js";
import { tempFolder } from "./support/temp-folder.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A judge who is asked and answers when the test says so. */
function judge() {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<boolean>();
  return {
    asked: asked.promise,
    answer: () => answered.resolve(true),
    evaluate: () => {
      asked.resolve();
      return answered.promise;
    },
  };
}

describe.each(["flush", "close"] as const)("%s", (method) => {
  it("waits for a judge that is still at work", async () => {
    const store: Store = { ...memoryStore(), close: () => Promise.resolve() };
    const { asked, answer, evaluate } = judge();
    const setup = await bench({ store, evaluate });
    const run = retrieving(setup).invoke("payment", { runId: RUN_ID });
    await asked;
    let returned = false;
    const waiting = setup.memory[method]().then(() => {
      returned = true;
    });
    await turn();
    expect(returned).toBe(false);
    answer();
    await waiting;
    const later = qavr({ store, logger: {} });
    expect((await later.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "verified" });
    await run;
  });
});

it("close waits for a report on a run that ranked in two namespaces", async () => {
  const { memory, vectors } = await bench({ store: join(tempFolder(), "ledger.db") });
  const retrievers = ["one", "two"].map((namespace) => memory.retriever(vectors, { k: 1, namespace }));
  const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
    for (const retriever of retrievers) await retriever.invoke(question, config);
  });
  await memory.track(chain).invoke("payment", { runId: RUN_ID });
  await memory.flush();
  const [report] = await Promise.all([memory.report(RUN_ID, { success: true }), memory.close()]);
  expect(report.status).toBe("committed");
});

describe("flush", () => {
  it("does not wait for the verdict of a judge that awaits it", async () => {
    const setup: Awaited<ReturnType<typeof bench>> = await bench({
      async evaluate() {
        await turn();
        await setup.memory.flush();
        return true;
      },
    });
    await retrieving(setup).invoke("payment", { runId: RUN_ID });
    await setup.memory.flush();
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ reward: 1, tier: "verified" });
  });

  it("waits also for what begins to end while it waits", async () => {
    const judges = { first: judge(), second: judge() };
    const setup = await bench({ evaluate: ({ input }) => judges[input as keyof typeof judges].evaluate() });
    const chain = retrieving(setup);
    const runs = [chain.invoke("first")];
    await judges.first.asked;
    let returned = false;
    const flushed = setup.memory.flush().then(() => {
      returned = true;
    });
    runs.push(chain.invoke("second"));
    await judges.second.asked;
    judges.first.answer();
    await runs[0];
    await turn();
    expect(returned).toBe(false);
    judges.second.answer();
    await Promise.all([...runs, flushed]);
  });

  it("returns after a run whose end could not be recorded and was thrown", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const commit = (): Promise<never> => Promise.reject(new Error("disk on fire"));
    const setup = await bench({ store: { ...memoryStore(), commit }, onError: "throw" });
    await expect(retrieving(setup).invoke("payment")).rejects.toMatchObject({ code: "STORE_FAILED" });
    await setup.memory.flush();
  });
});

it("flush and close after an aborted stream abandon its run, without a log line or a late rejection", async () => {
  const rejected = vi.fn();
  process.on("unhandledRejection", rejected);
  const store: Store = { ...memoryStore(), close: () => Promise.resolve() };
  const { memory, retriever, lines } = await bench({ store });
  const released = Promise.withResolvers<void>();
  const letters = RunnableLambda.from(async function* () {
    yield "a";
    await released.promise;
    yield "b";
  });
  const controller = new AbortController();
  const config = { runId: RUN_ID, signal: controller.signal };
  const stream = await memory.track(retriever.pipe(letters)).stream("payment", config);
  await stream.next();
  controller.abort();
  await memory.flush();
  await memory.close();
  released.resolve();
  await stream.next().catch(() => undefined);
  for (let turns = 0; turns < 10; turns++) await turn();
  process.off("unhandledRejection", rejected);
  expect(rejected).not.toHaveBeenCalled();
  expect(lines.filter(({ level }) => level !== "debug")).toEqual([]);
  const view = await qavr({ store, logger: {} }).explain(RUN_ID);
  expect(view).toMatchObject({ state: "abandoned" });
  expect(view?.outcome).toBeUndefined();
});

it("runs that end together are recorded in one transaction", async () => {
  const setup = await bench({ store: join(tempFolder(), "ledger.db") });
  const released = Promise.withResolvers<void>();
  const chain = setup.memory.track(setup.retriever.pipe(() => released.promise));
  const runs = Array.from({ length: 20 }, () => chain.invoke("payment"));
  while ((await setup.memory.status()).episodes.open < 20) await turn();
  const statements = vi.spyOn(DatabaseSync.prototype, "exec");
  released.resolve();
  await Promise.all(runs);
  await setup.memory.flush();
  expect(statements.mock.calls.filter(([statement]) => statement === "COMMIT")).toHaveLength(1);
  expect((await setup.memory.status()).episodes).toMatchObject({ recorded: 20, open: 0 });
  await setup.memory.close();
});
