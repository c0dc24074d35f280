import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { replay } from "@qavr/core/maintenance";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";
import { ids, memoryVectorStore } from "./support/corpus.js";

const QUESTION = "payment queue stuck";

let server: PostgresServer;
beforeAll(async () => {
  server = await startServer({ settings: { fsync: "off" } });
});
afterAll(() => server.stop());

describe("a memory in PostgreSQL, named by its URL", () => {
  it("learns in one process what another one ranks by", async () => {
    const vectors = await memoryVectorStore();
    const teacher = qavr({ store: server.url(), logger: {} });
    vi.stubEnv("QAVR_STORE", server.url());
    const other = qavr({ logger: {} });
    vi.unstubAllEnvs();
    expect(ids(await other.retriever(vectors, { k: 1 }).invoke(QUESTION))).toEqual(["restart"]);

    const retriever = teacher.retriever(vectors, { k: 1 });
    const chain = teacher.track(
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        const [first] = await retriever.invoke(question, config);
        if (first?.id !== "scale") throw new Error("that did not work");
      }),
    );
    for (let run = 0; run < 20; run++) await chain.invoke(QUESTION).catch(() => undefined);
    await teacher.flush();

    expect(ids(await other.retriever(vectors, { k: 1 }).invoke(QUESTION))).toEqual(["scale"]);
    expect((await replay(other.engine)).identical).toBe(true);
    await Promise.all([teacher.close(), other.close()]);
  });
});
