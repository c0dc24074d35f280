import { exportState } from "@qavr/core/maintenance";
import type { LearningOptions, QavrMemory } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { type Bench, bench, latest, remember, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import { wordEmbedder } from "./support/word-embedder.js";

describe("a memory whose embedding model has changed", () => {
  const { codes, logger } = listener();

  const ask = async (memory: QavrMemory, thread: string): Promise<string | undefined> => {
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    await agent.generate("how is the service deployed", { memory: { thread, resource: USER } });
    return (await latest(memory, thread))?.exposures[0]?.collection;
  };

  /** The same application with another model. */
  const changed = ({ ledger, storage, vector }: Bench, qavr: LearningOptions = {}): QavrMemory =>
    bench(
      { store: ledger, logger, semanticRecall: { echoes: "drop" }, evaluate: () => true, ...qavr },
      { storage, vector, embedder: wordEmbedder("other") },
    ).memory;

  it("learns in the new space under another name, forgets under both, and finds the old name as it was", async () => {
    const before = bench({ logger, evaluate: () => true });
    const message = await remember(before.memory, "deploy the service with helm upgrade");
    expect(await ask(before.memory, "a")).toBe("messages");
    expect(await ask(changed(before), "b")).toBe("messages");
    expect(codes.splice(0)).toEqual(["SPACE_CHANGED"]);
    const renamed = changed(before, { semanticRecall: { echoes: "drop", collection: "messages-2" } });
    expect(await ask(renamed, "c")).toBe("messages-2");
    expect(codes).toEqual([]);
    const learned = async (collection: string): Promise<number> =>
      (await exportState(renamed.engine, { collection })).memories.filter(({ id }) => id === message).length;
    expect([await learned("messages"), await learned("messages-2")]).toEqual([1, 1]);
    await renamed.deleteMessages([message]);
    expect([await learned("messages"), await learned("messages-2")]).toEqual([0, 0]);
  });
});
