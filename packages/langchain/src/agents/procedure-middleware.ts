import type { DocumentInterface } from "@langchain/core/documents";
import { type DynamicStructuredTool, type ToolRunnableConfig, tool } from "@langchain/core/tools";
import type { JsonSchema7Type } from "@langchain/core/utils/json_schema";
import {
  assertProcedures,
  type EpisodeOfRun,
  type FieldRules,
  PROCEDURE_CHARACTERS,
  PROCEDURE_TOOLS,
  type ProcedureSource,
  type ProcedureTool,
  procedureLine,
  procedureListing,
  resolveOptions,
  whole,
  withinBudget,
} from "@qavr/core/adapter";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { z } from "zod";
import { type MemoryHandle, type MemoryParts, partsOf } from "../memory-parts.js";
import { QavrRetriever, type RetrieverOptions } from "../qavr-retriever.js";
import { planRerank } from "../ranking/rerank.js";
import { findRun } from "../runs/find-run.js";
import { joinSuspended } from "../runs/run-session.js";
import type { RootRun } from "../runs/run-tree.js";
import { answering, noteOwnCall, type Repaired } from "../tools/answering-tool.js";
import { noteRead, retrieveForAgent } from "./agent-retrieval.js";
import { type AgentState, MIDDLEWARE_DEFAULTS, type MiddlewareOptions, RUN_RULES } from "./middleware-options.js";
import { answerOf } from "./model-errors.js";
import { withBlock } from "./system-prompt.js";

/** Fields of {@link procedureMiddleware}. */
export interface ProcedureMiddlewareFields extends Pick<MiddlewareOptions, "name" | "query">, Scope {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
  /** `openProcedures(root, { engine: memory.engine })` of `@qavr/markdown`. */
  readonly procedures: ProcedureSource;
  /** The most procedures in a run's listing. @default 20 */
  readonly k?: number | undefined;
  /** The most characters of the listing's lines. @default 4,000 */
  readonly maxCharacters?: number | undefined;
}

type Scope = Pick<RetrieverOptions, "namespace" | "context">;

const DEFAULTS = {
  name: "qavr_procedures",
  query: MIDDLEWARE_DEFAULTS.query,
  k: 20,
  maxCharacters: PROCEDURE_CHARACTERS,
} as const;

const STATE = z
  .object({ lines: z.array(z.string()), retrieval: z.string() })
  .nullable()
  .default(null);
type State = z.infer<typeof STATE>;

/**
 * Middleware for procedures in Markdown: each run gets a list of those that fit its request and helped in runs like it, by id and description,
 * as many as fit, and gets the tools `load_procedure` and `report_procedure_outcome`. A procedure that is listed counts as shown, one
 * that is loaded as used; the run's outcome, or the report, is a verdict on it. Track the agent as well.
 *
 * When procedures cannot be found the agent runs without a listing and MEMORIES_UNAVAILABLE is logged.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function procedureMiddleware(fields: ProcedureMiddlewareFields): AgentMiddleware {
  const options = resolveOptions("procedureMiddleware()", fields, DEFAULTS, OPTIONS);
  const { memory, procedures, name, query, k, maxCharacters, ...rest } = options;
  const parts = partsOf(memory);
  assertProcedures(procedures);
  const { collection } = procedures;
  const retriever = new QavrRetriever({
    ...rest,
    memory,
    base: collection,
    collection: collection.name,
    k,
    idOf: ({ id }) => id,
  });
  const stateKey = `_${name}`;
  const request = {
    retriever,
    query,
    choose: async (documents: readonly DocumentInterface[]) => {
      const listed = documents.map((document) => ({
        document,
        line: procedureLine({ id: document.id as string, metadata: document.metadata }),
      }));
      return withinBudget(listed, maxCharacters, ({ line }) => line.length);
    },
    failed: "An agent's procedures could not be found; it went on without a listing.",
  };

  return createMiddleware({
    name,
    stateSchema: z.object({ [stateKey]: STATE }),
    tools: PROCEDURE_TOOLS.map((given) => procedureTool(parts, procedures, { ...given, options: rest })),
    async beforeAgent(state) {
      const retrieved = await retrieveForAgent(parts, request, state as unknown as AgentState);
      const listing: State = retrieved
        ? { lines: retrieved.chosen.map(({ line }) => line), retrieval: retrieved.retrieval }
        : null;
      return { [stateKey]: listing };
    },
    wrapModelCall(call, handler) {
      const listing = (call.state as Record<string, unknown>)[stateKey] as State;
      let { systemMessage } = call;
      if (listing && listing.lines.length > 0) {
        noteRead(parts, listing.retrieval);
        systemMessage = withBlock(systemMessage, procedureListing(listing.lines));
      }
      return answerOf(() => handler({ ...call, systemMessage }));
    },
  });
}

const OPTIONS: FieldRules<ProcedureMiddlewareFields> = {
  ...RUN_RULES,
  procedures: true,
  k: whole(1),
  maxCharacters: whole(1),
};

function procedureTool(
  parts: MemoryParts,
  source: ProcedureSource,
  { name, description, schema, answer, options }: ProcedureTool & { readonly options: Scope },
): DynamicStructuredTool {
  const call = async (input: Record<string, unknown>, config: ToolRunnableConfig): Promise<string> => {
    const root = noteOwnCall(parts, config);
    if (!root) return answer(source, input, []);
    await joinSuspended(parts, root);
    const { scope } = planRerank(parts, findRun(parts.runs, config.callbacks), options);
    return answer(source, input, await episodesIn(root, scope?.namespace));
  };
  const fresh = tool(call, { name, description, schema: structuredClone(schema) as unknown as JsonSchema7Type });
  return answering(fresh as unknown as DynamicStructuredTool, repair);
}

/**
 * The run's episodes in the namespace of the listing; other retrievers of the run may have others. A model also loads a procedure that
 * nothing in its request matches, and the run's outcome counts for that one, too.
 */
async function episodesIn({ over, session }: RootRun, namespace: string | undefined): Promise<readonly EpisodeOfRun[]> {
  const ofRun = await session.episodes();
  if (namespace === undefined) return ofRun;
  const own = ofRun.filter((episode) => episode.namespace === namespace);
  return own.length > 0 || over ? own : [await session.episodeIn(namespace)];
}

/** Keeps the fields that have the right type. */
function repair({ id, success, notes }: Record<string, unknown>): Repaired<object> {
  const input = {
    id: typeof id === "string" ? id : "",
    ...(typeof success === "boolean" ? { success } : {}),
    ...(typeof notes === "string" ? { notes } : {}),
  };
  return { input, problems: [] };
}
