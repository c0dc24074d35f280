// An agent for Studio (`mastra dev`) whose memory learns: tell it two ways to do a rollout, ask it for one, and watch it leave
// the way that fails. Offline.
import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore, MastraCompositeStore } from "@mastra/core/storage";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { MastraStorageExporter, Observability } from "@mastra/observability";
import { hashedEmbedder } from "@qavr/bench/mastra";
import { QavrMemory } from "@qavr/mastra";
import { model } from "./model.js";

// Absolute, since Studio runs in a folder of its own.
const folder = process.env.EXAMPLE_DATA ?? process.cwd();

const traces = await new InMemoryStore({ id: "traces" }).getStore("observability");
const storage = new MastraCompositeStore({
  id: "storage",
  default: new LibSQLStore({ id: "libsql", url: `file:${join(folder, "storage.db")}` }),
  // Traces and feedback; LibSQL keeps no feedback.
  domains: { observability: traces ?? false },
});

const operator = new Agent({
  id: "operator",
  name: "Operator",
  instructions: "Roll out services.",
  model,
  maxRetries: 0,
  memory: new QavrMemory({
    storage,
    vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
    embedder: hashedEmbedder(),
    options: { semanticRecall: { topK: 1, messageRange: 0 } },
    qavr: { store: join(folder, "ledger.db"), semanticRecall: { echoes: "drop" } },
  }),
});

export const mastra: Mastra = new Mastra({
  agents: { operator },
  storage,
  observability: new Observability({
    configs: { default: { serviceName: "studio", exporters: [new MastraStorageExporter()] } },
  }),
});
