import type { DocumentInterface } from "@langchain/core/documents";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { QavrError } from "@qavr/core";
import { type FieldRules, illegalOption, MAX_FETCH_K, resolveOptions, whole } from "@qavr/core/adapter";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { z } from "zod";
import { type MemoryHandle, partsOf } from "../memory-parts.js";
import { QavrRetriever, type RetrieverOptions } from "../qavr-retriever.js";
import type { Base } from "../ranking/host.js";
import { noteRead, retrieveForAgent } from "./agent-retrieval.js";
import { describedCollections } from "./described-collections.js";
import { type AgentState, MIDDLEWARE_DEFAULTS, type MiddlewareOptions, RUN_RULES } from "./middleware-options.js";
import { answerOf } from "./model-errors.js";

/** Fields of {@link rankedTools}. */
export interface RankedToolsFields
  extends Pick<MiddlewareOptions, "name" | "query">,
    Pick<RetrieverOptions, "collection" | "namespace" | "context"> {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
  /** The tools to choose from, each with a name of its own. Do not give them to the agent as well. */
  readonly tools: readonly StructuredToolInterface[];
  /** The number of tools that a run gets, from 1 to 1,000. @default 5 */
  readonly k?: number | undefined;
  /**
   * A store or collection with one document for each tool, whose id is the tool's name: its similarities order the tools that nothing was
   * learned of. @default words that the request shares with names and descriptions
   */
  readonly base?: Base | undefined;
}

const DEFAULTS = { name: "qavr_tools", query: MIDDLEWARE_DEFAULTS.query, k: 5, collection: "tools" } as const;

/** Null: the run gets all tools. */
const STATE = z
  .object({ names: z.array(z.string()), retrieval: z.string() })
  .nullable()
  .default(null);
type State = z.infer<typeof STATE>;

/**
 * Middleware that gives each run of an agent the tools that helped runs like it, and no others of its `tools`. It ranks them once per
 * run, by the last human message, and keeps their names in a private state key. Tools of the agent and of other middleware are always
 * there. Track the agent as well: the middleware shows tools and the handler learns.
 *
 * A tool that `toolChoice` names is always there. When the tools cannot be ranked, or there is no request, the run gets all of them; the
 * former is logged as MEMORIES_UNAVAILABLE.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function rankedTools(fields: RankedToolsFields): AgentMiddleware {
  const options = resolveOptions("rankedTools()", fields, DEFAULTS, OPTIONS);
  const { memory, tools, base, name, query, k, ...rest } = options;
  const parts = partsOf(memory);
  const all = namesOf(tools);
  const retriever = new QavrRetriever({
    ...rest,
    memory,
    base: base ?? describedCollections(DEFAULTS.collection)(tools),
    k,
    idOf: ({ id }) => id,
    required: true,
    fetchK: Math.max(k, Math.min(all.size, MAX_FETCH_K)),
  });
  const stateKey = `_${name}`;
  const request = {
    retriever,
    query,
    choose: async (documents: readonly DocumentInterface[]) => {
      const chosen = documents.filter(({ id }) => all.has(id as string)).map((document) => ({ document }));
      if (chosen.length > 0) return chosen;
      throw new QavrError("INVALID_ARGUMENT", "No document that `base` found has the name of a tool as its id.");
    },
    failed: "An agent's tools could not be ranked; it got all of them.",
  };

  return createMiddleware({
    name,
    stateSchema: z.object({ [stateKey]: STATE }),
    tools: [...tools],
    async beforeAgent(state) {
      const retrieved = await retrieveForAgent(parts, request, state as unknown as AgentState);
      const shown: State = retrieved
        ? { names: retrieved.chosen.map(({ document }) => document.id as string), retrieval: retrieved.retrieval }
        : null;
      return { [stateKey]: shown };
    },
    wrapModelCall(call, handler) {
      const chosen = (call.state as Record<string, unknown>)[stateKey] as State;
      if (chosen) noteRead(parts, chosen.retrieval);
      // A string for most choices, and another object for some models.
      const forced = (call.toolChoice as { readonly function?: { readonly name: string } } | undefined)?.function?.name;
      const isShown = ({ name: tool }: { readonly name?: unknown }): boolean =>
        !chosen || !all.has(tool as string) || chosen.names.includes(tool as string) || tool === forced;
      return answerOf(() => handler({ ...call, tools: call.tools.filter(isShown) }));
    },
  });
}

const OPTIONS: FieldRules<RankedToolsFields> = {
  ...RUN_RULES,
  tools: true,
  base: true,
  collection: true,
  k: whole(1, MAX_FETCH_K),
};

/** @throws INVALID_ARGUMENT for no tools, for one without a name, and for two of one name */
function namesOf(tools: readonly StructuredToolInterface[]): ReadonlySet<string> {
  if (!Array.isArray(tools) || tools.length === 0)
    throw illegalOption("tools", "tools must be a list of at least one tool", tools);
  const names = tools.map((tool: StructuredToolInterface | null | undefined) => tool?.name);
  if (!names.every((name): name is string => typeof name === "string" && name !== ""))
    throw illegalOption("tools", "tools must have a name each; a provider's own tools belong to the agent", tools);
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice !== undefined)
    throw illegalOption("tools", "tools must have a name of their own each; this one comes twice", twice);
  return new Set(names);
}
