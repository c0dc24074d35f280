import type { LibSQLVector } from "@mastra/libsql";
import { createEngine, type Engine, memoryStore } from "@qavr/core";
import { type QavrVector, qavrVector } from "@qavr/mastra";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bench, remember, scriptedAgent, USER } from "./support/bench.js";
import { libsql } from "./support/stores.js";
import { DIMENSION, wordVector } from "./support/word-embedder.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

const newEngine = (): Engine => createEngine({ store: memoryStore() });

const SWITCHES: [string, (engine: Engine) => { engine: Engine; enabled?: boolean }][] = [
  ["the option", (engine) => ({ engine, enabled: false })],
  [
    "the environment",
    (engine) => {
      vi.stubEnv("QAVR_DISABLED", "1");
      return { engine };
    },
  ],
];

describe("a memory that is switched off while others learn with its engine", () => {
  it.each(SWITCHES)("by %s, is Mastra's own and records nothing", async (_how, options) => {
    const engine = newEngine();
    const { memory } = bench(options(engine));
    expect(memory.listTools()).toEqual({});
    await remember(memory, "deploy the service with helm upgrade");
    const failing = scriptedAgent(memory, [{ error: new Error("down") }]);
    await failing.generate("how is the service deployed", { memory: { thread: "t", resource: USER } }).catch(() => {});
    expect(await memory.reportOutcome({ threadId: "t", success: true })).toMatchObject({ status: "ignored", seq: 0 });
    await memory.close();
    expect(await engine.status()).toMatchObject({ seq: 0, episodes: { recorded: 0 } });
    expect(engine.enabled).toBe(true);
  });
});

describe("a vector store that is switched off while others learn with its engine", () => {
  const query = { indexName: "notes", queryVector: wordVector("restart the queue"), topK: 1 };

  async function notes(): Promise<LibSQLVector> {
    const { vector } = libsql();
    await vector.createIndex({ indexName: query.indexName, dimension: DIMENSION });
    const texts = ["restart the queue", "restart the queue by hand"];
    await vector.upsert({ indexName: query.indexName, ids: ["a", "b"], vectors: texts.map(wordVector) });
    return vector;
  }

  async function expectItself(documents: QavrVector, vector: LibSQLVector): Promise<void> {
    const [shown] = await documents.query(query);
    expect(await documents.reportOutcome(shown as never, { success: false })).toMatchObject({ status: "ignored" });
    expect(await documents.query(query)).toEqual(await vector.query(query));
  }

  it.each(SWITCHES)("by %s, answers as it is and takes no report", async (_how, options) => {
    const engine = newEngine();
    const vector = await notes();
    await expectItself(qavrVector(vector, options(engine)), vector);
    expect((await engine.status()).seq).toBe(0);
  });

  it("is switched off beside a memory that learns", async () => {
    const { memory } = bench();
    const vector = await notes();
    await expectItself(qavrVector(vector, { memory, enabled: false }), vector);
    expect((await memory.status()).seq).toBe(0);
  });

  it("takes no other setting beside a memory, which brings its own", async () => {
    const { memory } = bench();
    for (const other of [{ store: memoryStore() }, { namespace: "docs" }, { fetchK: 9 }]) {
      expect(() => qavrVector(libsql().vector, { memory, ...other } as never)).toThrow(/memory are alternatives/);
    }
  });
});
