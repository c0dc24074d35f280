import type { Document } from "@langchain/core/documents";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { Reflector } from "../../src/reflection/index.js";
import { bench, QUESTION, RUN_ID } from "../support/bench.js";
import { TextModel } from "../support/scripted-models.js";

const CLAIM = "On node blue-7 the payment worker ignores SIGTERM - kill it with SIGKILL or the queue is written back";
const ANSWER = JSON.stringify({ newClaims: [CLAIM], helpfulMemories: [], harmfulMemories: [] });

describe("a run's claims", () => {
  it.each([
    ["as the run ends", { reflectOn: "always" }],
    ["when it is invoked", {}],
  ] as const)("get the memory's namespace beside a retriever of another one, %s", async (_, options) => {
    const { memory, vectors, retriever } = await bench({ namespace: "acme" });
    const shared = memory.retriever(vectors, { k: 1, namespace: "shared" });
    const chain = memory.track(
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        await shared.invoke(question, config);
        await retriever.invoke(question, config);
      }),
    );
    const claims: Document[] = [];
    const model = new TextModel([ANSWER]);
    const reflector = new Reflector({ memory, model, saveTo: (saved) => claims.push(...saved), ...options });
    await chain.invoke(QUESTION, { runId: RUN_ID });
    if (!("reflectOn" in options)) await reflector.invoke({ runId: RUN_ID, input: QUESTION });
    await memory.flush();
    expect(claims.map(({ metadata }) => metadata.qavr_namespace)).toEqual(["acme"]);
  });
});
