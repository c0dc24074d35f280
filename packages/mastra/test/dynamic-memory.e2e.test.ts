import { join } from "node:path";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { memoryStore, qValue } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { type LearningOptions, QavrMemory } from "@qavr/mastra";
import { describe, expect, it, vi } from "vitest";
import { bench, scriptedAgent, USER } from "./support/bench.js";
import { collectGarbage } from "./support/collect-garbage.js";
import { quietObservability } from "./support/judged.js";
import type { Script } from "./support/scripted-model.js";
import { libsql, temporaryFolder } from "./support/stores.js";
import { wordEmbedder } from "./support/word-embedder.js";

/** A function that makes a memory anew, as an application does that tells tenants or plans apart. */
function factory(qavr: (ledger: string) => LearningOptions): { make(): QavrMemory; readonly made: QavrMemory[] } {
  const folder = temporaryFolder();
  const { storage, vector } = libsql(folder);
  const made: QavrMemory[] = [];
  return {
    made,
    make() {
      const memory = new QavrMemory({
        storage,
        vector,
        embedder: wordEmbedder(),
        options: { lastMessages: 2, semanticRecall: { topK: 1, messageRange: 0 } },
        qavr: qavr(join(folder, "ledger.db")),
      });
      made.push(memory);
      return memory;
    },
  };
}

describe("a memory that a function makes", () => {
  const ask = (make: () => QavrMemory, thread: string, text: string, script: Script): Promise<unknown> =>
    scriptedAgent(make as never, script).generate(text, { memory: { thread, resource: USER } });

  it("learns from how runs end and takes the agent's report, on one engine", async () => {
    const { make, made } = factory((store) => ({
      store,
      reportTool: true,
      governance: governance({ sourceCaps: { weight: 10, window: 60_000 } }),
    }));
    await ask(make, "note", "deploy the service with helm upgrade", [{ text: "noted" }]);
    await ask(make, "task", "how is the service deployed", [{ text: "with helm" }]);
    const report = { tool: "report_memory_outcome", args: { success: true, helpful: ["m1"] } };
    await ask(make, "reported", "how is the service deployed", [report, { text: "with helm" }]);
    expect(made.length).toBeGreaterThan(3);
    expect(new Set(made.map(({ engine }) => engine)).size).toBe(1);
    const memory = make();
    expect(await memory.explain({ threadId: "task" })).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    expect((await memory.explain({ threadId: "reported" }))?.outcome?.tier).toBe("self-reported");
    expect((await memory.status()).episodes).toMatchObject({ open: 0, recorded: 2 });
  });

  it("closes the ledger with the last, and opens it anew", async () => {
    const { make } = factory((store) => ({ store }));
    const [one, other] = [make(), make()];
    const { engine } = one;
    await one.close();
    expect((await other.status()).episodes.recorded).toBe(0);
    await other.close();
    await expect(other.status()).rejects.toMatchObject({ code: "STORE_CLOSED" });
    const next = make();
    expect(next.engine).not.toBe(engine);
    await next.close();
  });

  it("has an engine of its own where its options are others", async () => {
    let holdout = 0;
    const { make } = factory((store) => {
      holdout += 0.1;
      return { store, holdout };
    });
    const [one, other] = [make(), make()];
    expect(one.engine).not.toBe(other.engine);
    await Promise.all([one.close(), other.close()]);
  });

  it("leaves a given store open to memories with other options, and closes it with the last", async () => {
    const store = memoryStore();
    const [one, other] = [bench({ store, holdout: 0.1 }).memory, bench({ store }).memory];
    await one.close();
    expect((await other.status()).episodes.recorded).toBe(0);
    await other.close();
    await expect(store.head("default")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("says so where its options keep it from sharing", () => {
    const warn = vi.fn();
    const { make } = factory((store) => ({ store, learner: qValue() as never, logger: { warn } }));
    for (let at = 0; at < 10; at++) make();
    expect(warn.mock.calls.map(([, fields]) => fields)).toEqual([{ code: "ENGINE_NOT_SHARED" }]);
  });

  it("lets go of the engines of memories that are gone", async () => {
    const { make, made } = factory((store) => ({ store, learner: qValue() as never, logger: {} }));
    const engines = Array.from({ length: 6 }, () => new WeakRef(make().engine));
    made.length = 0;
    const left = (): number => engines.filter((engine) => engine.deref() !== undefined).length;
    await vi.waitFor(
      () => {
        collectGarbage();
        make();
        made.length = 0;
        expect(left()).toBe(0);
      },
      { timeout: 20_000 },
    );
  });

  it("listens to observability and stored feedback once", async () => {
    const { make } = factory((store) => ({ store, scores: { quality: (score) => score / 100 } }));
    const observability = quietObservability();
    const storage = new InMemoryStore();
    const feedback = await storage.getStore("observability");
    const heardBy = (): unknown => feedback?.createFeedback;
    const before = heardBy();
    const register = vi.spyOn(observability.getDefaultInstance() as never, "registerExporter" as never);
    const agent = scriptedAgent((() => make()) as never, [{ text: "noted" }]);
    new Mastra({ agents: { agent }, storage, logger: false, observability });
    const ask = (thread: string): Promise<unknown> => agent.generate("deploy", { memory: { thread, resource: USER } });
    await ask("a");
    const after = heardBy();
    expect(after).not.toBe(before);
    await ask("b");
    expect(heardBy()).toBe(after);
    expect(register).toHaveBeenCalledTimes(1);
  });
});
