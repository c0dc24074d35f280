import type { DocumentInterface } from "@langchain/core/documents";
import { type DynamicStructuredTool, type ToolRunnableConfig, type ToolSchemaBase, tool } from "@langchain/core/tools";
import type { JsonSchema7Type } from "@langchain/core/utils/json_schema";
import { checkFields } from "@qavr/core/adapter";
import { formatMemories } from "../format-memories.js";
import { type MemoryHandle, partsOf } from "../memory-parts.js";
import { QavrRetriever, type RetrieverOptions } from "../qavr-retriever.js";
import type { Base } from "../ranking/host.js";
import { continueHandles } from "../runs/run-session.js";
import { answering, noteOwnCall, problemsOf, type Repaired, TOOL_OPTIONS } from "./answering-tool.js";

/** Options of a recall tool: its name and description for the model, and the retriever's options. */
export interface RecallToolOptions extends RetrieverOptions {
  /** @default "recall_memories" */
  readonly name?: string | undefined;
  /** Tells the model when to recall. */
  readonly description?: string | undefined;
}

/** A tool that answers `{ query }` with text for the model; the message of a tool call has the documents as its artifact. */
export type RecallTool = DynamicStructuredTool<ToolSchemaBase, { query: string }, { query: string }, string>;

const SCHEMA: JsonSchema7Type = {
  type: "object",
  properties: { query: { type: "string", description: "What to look for, in a few words." } },
  required: ["query"],
};

const DESCRIPTION =
  "Recall memories that may help with the current task. Each comes with a short handle such as [m1]; " +
  "use the handles to report afterwards which memories helped or misled.";

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function createRecallTool(memory: MemoryHandle, base: Base, options: RecallToolOptions = {}): RecallTool {
  const { name = "recall_memories", description = DESCRIPTION, ...rest } = options;
  checkFields("A recall tool", { name, description }, TOOL_OPTIONS);
  const retriever = new QavrRetriever({ ...rest, memory, base });
  const parts = partsOf(memory);
  const recall = async (
    input: { query: string },
    config: ToolRunnableConfig,
  ): Promise<[string, DocumentInterface[]]> => {
    noteOwnCall(parts, config);
    const [problem] = problemsOf(input);
    if (problem !== undefined) return [problem, []];
    const { state } = config as { readonly state?: { readonly messages?: unknown } };
    continueHandles(parts, config.callbacks, state?.messages);
    const documents = await retriever.invoke(input.query, config.callbacks ? { callbacks: config.callbacks } : {});
    return [documents.length === 0 ? "No memory matches." : formatMemories(documents, parts.shown), documents];
  };
  const made = tool(recall, { name, description, schema: SCHEMA, responseFormat: "content_and_artifact" });
  return answering(made as unknown as RecallTool, repairQuery);
}

function repairQuery({ query }: Record<string, unknown>): Repaired<{ query: string }> {
  if (typeof query === "string" && query.trim() !== "") return { input: { query }, problems: [] };
  return { input: { query: "" }, problems: ['Say what to look for: { "query": "a few words" }.'] };
}
