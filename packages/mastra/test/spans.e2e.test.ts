import { Mastra } from "@mastra/core/mastra";
import { BaseExporter, Observability } from "@mastra/observability";
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
});
