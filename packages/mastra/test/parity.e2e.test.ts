import { Agent, type AgentConfig } from "@mastra/core/agent";
import { noopLogger } from "@mastra/core/logger";
import type { MastraCompositeStore } from "@mastra/core/storage";
import type { MastraVector } from "@mastra/core/vector";
import { Memory } from "@mastra/memory";
import { PgVector, PostgresStore } from "@mastra/pg";
import { QavrMemory, type QavrMemoryFields } from "@qavr/mastra";
import { type PostgresServer, startServer, startVectorServer, type VectorServer } from "@qavr/postgres-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Script, scriptedModel } from "./support/scripted-model.js";
import { libsql } from "./support/stores.js";
import { tools } from "./support/tools.js";
import { wordEmbedder } from "./support/word-embedder.js";

type Options = NonNullable<QavrMemoryFields["options"]>;

/** One turn of a conversation. */
interface Said {
  readonly thread: string;
  readonly resource: string;
  readonly text: string;
}

const CONVERSATION: readonly Said[] = [
  { thread: "a", resource: "ann", text: "the service is deployed with helm upgrade" },
  { thread: "b", resource: "ann", text: "how is the service deployed" },
  { thread: "b", resource: "ann", text: "and how is it rolled back, please use the tool" },
  { thread: "c", resource: "bob", text: "how is the service deployed" },
  { thread: "a", resource: "ann", text: "FAIL how is the service deployed" },
  { thread: "d", resource: "ann", text: "how is the service deployed" },
];

const SCRIPT: Script = (prompt) => {
  const asked = JSON.stringify(prompt.filter(({ role }) => role === "user").at(-1));
  if (asked.includes("FAIL")) return { error: new Error("down") };
  if (asked.includes("use the tool") && prompt.at(-1)?.role === "user") return { tool: "works" };
  return { text: `answer ${prompt.length}` };
};

const OPTIONS: Readonly<Record<string, Options>> = {
  "one message without neighbours": { lastMessages: 2, semanticRecall: { topK: 1, messageRange: 0 } },
  "Mastra's defaults": { semanticRecall: true },
  "one thread above a threshold": {
    lastMessages: 1,
    semanticRecall: { topK: 3, messageRange: { before: 0, after: 1 }, scope: "thread", threshold: 0.3 },
  },
  "working memory beside it": {
    lastMessages: 2,
    semanticRecall: { topK: 2, messageRange: 1 },
    workingMemory: { enabled: true, template: "# Notes" },
  },
};

/** The observable effects: the model's prompts, its tools, the stored and embedded messages. */
async function record(
  memory: Memory,
  { storage, vector }: { storage: MastraCompositeStore; vector: MastraVector },
): Promise<unknown> {
  const { model, prompts, offered } = scriptedModel(SCRIPT);
  // Noted on the way in: the store's own search is an approximate one.
  const embedded: unknown[] = [];
  const upsert = vector.upsert.bind(vector);
  vector.upsert = (params: Parameters<typeof upsert>[0]) => {
    embedded.push({ ...params, vectors: params.vectors.map((values) => values.join()) });
    return upsert(params);
  };
  const config = { id: "agent", name: "agent", instructions: "Answer.", model, memory, maxRetries: 0, tools };
  const agent = new Agent(config as unknown as AgentConfig);
  agent.__setLogger(noopLogger as never);
  for (const { thread, resource, text } of CONVERSATION) {
    await agent.generate(text, { memory: { thread, resource } }).catch(() => undefined);
  }
  const store = await storage.getStore("memory");
  const stored = [];
  for (const threadId of ["a", "b", "c", "d"]) {
    stored.push((await store?.listMessages({ threadId, perPage: false }))?.messages);
  }
  return comparable({ prompts, offered, stored, embedded, indexes: await vector.listIndexes() });
}

/** Without what differs between any two runs: times, and ids, which are numbered as they appear. */
function comparable(value: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      ids.set(id, ids.get(id) ?? `id-${ids.size}`);
      return ids.get(id) as string;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")
    .replaceAll(/at \d+:\d\d [AP]M/g, "time")
    .replaceAll(/"(createdAt|completedAt|startedAt)":\d+/g, '"$1":0')
    .replaceAll(/"stack":"[^"]*"/g, '"stack":""');
  return JSON.parse(text);
}

/** Options with which a QavrMemory changes nothing. */
const OFF: QavrMemoryFields["qavr"] = { enabled: false };

describe("with learning off, the same conversations give the same prompts, messages and vectors as Mastra's own memory", () => {
  it.each(Object.entries(OPTIONS))("on LibSQL, with %s", async (what, options) => {
    const [plain, learned] = [libsql(), libsql()];
    const fields = { embedder: wordEmbedder(`parity-${what}`), options };
    const expected = await record(new Memory({ ...fields, ...plain }), plain);
    expect(await record(new QavrMemory({ ...fields, ...learned, qavr: OFF }), learned)).toEqual(expected);
  });

  describe("on PostgreSQL", () => {
    let messages: PostgresServer;
    let vectors: VectorServer;

    beforeAll(async () => {
      [messages, vectors] = await Promise.all([startServer({ settings: { fsync: "off" } }), startVectorServer()]);
    });

    afterAll(() => Promise.all([messages.stop(), vectors.stop()]));

    it.each(Object.entries(OPTIONS))("with %s", async (what, options) => {
      const backend = (arm: string): { storage: MastraCompositeStore; vector: PgVector; schemaName: string } => {
        const schemaName = `${arm}_${what.length}`;
        return {
          schemaName,
          storage: new PostgresStore({
            id: schemaName,
            connectionString: messages.url(),
            schemaName,
          }) as unknown as MastraCompositeStore,
          vector: exact(new PgVector({ id: schemaName, connectionString: vectors.url(), schemaName, max: 2 })),
        };
      };
      const [plain, learned] = [backend("plain"), backend("learned")];
      const fields = { embedder: wordEmbedder(`parity-${what}`), options };
      const expected = await record(new Memory({ ...fields, ...plain }), plain);
      expect(await record(new QavrMemory({ ...fields, ...learned, qavr: OFF }), learned)).toEqual(expected);
      const kept = await rows(plain);
      expect(kept.length).toBeGreaterThan(CONVERSATION.length);
      expect(await rows(learned)).toEqual(kept);
      await Promise.all([plain.vector.disconnect(), learned.vector.disconnect()]);
    });
  });
});

/** Without pgvector's own index, which draws its cells at random and then misses other rows in each database. */
function exact(vector: PgVector): PgVector {
  const createIndex = vector.createIndex.bind(vector);
  vector.createIndex = (params) => createIndex({ ...params, buildIndex: false });
  return vector;
}

/** The rows of an index's table in the order of writing, without ids and times of messages. */
async function rows({ vector, schemaName }: { vector: PgVector; schemaName: string }): Promise<readonly unknown[]> {
  const [index] = await vector.listIndexes();
  const found = await vector.pool.query(
    `SELECT embedding::text, metadata - 'message_id' - 'created_at' AS metadata FROM "${schemaName}"."${index}" ORDER BY id`,
  );
  return found.rows;
}
