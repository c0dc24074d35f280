import { Mastra } from "@mastra/core/mastra";
import { BaseExporter, Observability } from "@mastra/observability";
import { createEngine, memoryStore } from "@qavr/core";
import type { LearningOptions } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { bench, remember, scriptedAgent, USER } from "./support/bench.js";

interface Span {
  readonly type: string;
  readonly name: string;
  readonly attributes?: Record<string, unknown>;
}

class Collecting extends BaseExporter {
  name = "collecting";
  readonly spans: Span[] = [];

  override async _exportTracingEvent({ type, exportedSpan }: { type: string; exportedSpan: unknown }): Promise<void> {
    if (type === "span_ended") this.spans.push(exportedSpan as Span);
  }
}

describe("the span of a recall", () => {
  it("is a memory operation that says what was ranked and shown, in numbers", async () => {
    const { memory, storage } = bench();
    await remember(memory, "deploy the service with helm upgrade");
    const exporter = new Collecting();
    const agent = scriptedAgent(memory, [{ text: "with helm" }]);
    const observability = new Observability({ configs: { default: { serviceName: "test", exporters: [exporter] } } });
    new Mastra({ agents: { agent }, storage, logger: false, observability });
    await agent.generate("how is the service deployed", { memory: { thread: "task", resource: USER } });
    await expect.poll(() => exporter.spans.some(({ name }) => name === "memory: learned recall")).toBe(true);
    const span = exporter.spans.find(({ name }) => name === "memory: learned recall");
    expect(span).toMatchObject({
      type: "memory_operation",
      attributes: {
        operationType: "recall",
        vectorResultCount: 1,
        messageCount: 1,
        qavr: {
          recorded: true,
          order: "host",
          shown: 1,
          items: [{ handle: "m1", hostRank: 1, collection: "messages" }],
        },
      },
    });
    expect(JSON.stringify(span?.attributes?.qavr)).not.toContain("helm");
    const off = { thread: "off", resource: USER, options: { semanticRecall: false } } as const;
    await agent.generate("how is the service deployed", { memory: off });
    const recalls = (): unknown[] =>
      exporter.spans
        .filter(({ name }) => name === "memory: learned recall")
        .map(({ attributes }) => attributes?.semanticRecallEnabled);
    await expect.poll(recalls).toEqual([true, false]);
  });

  it("says whether a collection was reordered, and why a run was shown nothing or the host's order", async () => {
    const lessons = ["cache", "permissions"].map((id, i) => ({ id, text: `the ${id}`, similarity: 0.9 - i / 10 }));
    const collections = [{ collection: { name: "lessons", search: () => lessons }, topK: 1 }];
    const store = memoryStore();
    const teacher = createEngine({ store });
    const text = "deploy fails with EACCES";
    for (let run = 0; run < 6; run++) {
      const { episode, items } = await teacher.rank({ collection: "lessons", text, candidates: lessons, topK: 1 });
      await teacher.end(episode, { reward: items[0]?.id === "permissions", tier: "verified" });
    }
    const spanOf = async (qavr: LearningOptions): Promise<unknown> => {
      const { memory, storage } = bench({ store, collections, ...qavr });
      const exporter = new Collecting();
      const agent = scriptedAgent(memory, [{ text: "done" }]);
      const observability = new Observability({ configs: { default: { serviceName: "test", exporters: [exporter] } } });
      new Mastra({ agents: { agent }, storage, logger: false, observability });
      await agent.generate(text, { memory: { thread: "task", resource: USER, options: { semanticRecall: false } } });
      const recall = () => exporter.spans.find(({ name }) => name === "memory: learned recall");
      await expect.poll(recall).toBeDefined();
      return recall()?.attributes?.qavr;
    };
    const learned = { order: "learned", gate: expect.any(Number), shown: 1 };
    expect(await spanOf({ holdout: 0 })).toMatchObject(learned);
    expect(await spanOf({ holdout: 1 })).toMatchObject({ ...learned, order: "host", heldOut: true });
    expect(await spanOf({ memoryOff: 1 })).toMatchObject({ ...learned, order: "host", shown: 0, memoryOff: true });
  });
});
