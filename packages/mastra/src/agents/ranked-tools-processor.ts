import type { InputProcessor, ProcessInputStepArgs } from "@mastra/core/processors";
import { QavrError } from "@qavr/core";
import {
  checkFields,
  type Described,
  describedSearch,
  type FieldRules,
  illegalOption,
  MAX_FETCH_K,
  whole,
} from "@qavr/core/adapter";
import { partsOf } from "../memory-parts.js";
import type { QavrMemory } from "../qavr-memory.js";
import { COLLECTION, type MemoryCollection } from "../recall/collections.js";
import { requestText } from "../recall/plan-recall.js";
import type { AgentRun } from "../runs/agent-run.js";
import { askingRun, rankDescribed } from "./rank-described.js";

/** Fields of {@link rankedToolsProcessor}. */
export interface RankedToolsProcessorFields {
  /** The agent's memory. */
  readonly memory: QavrMemory;
  /** The tools to choose from: those of the agent, or some of them. Its other tools are always there. */
  readonly tools: Readonly<Record<string, object>>;
  /** The number of tools that a run gets, from 1. @default 5 */
  readonly k?: number | undefined;
  /**
   * A collection with one memory for each tool, whose id is the tool's name: its similarities order the tools that nothing was learned
   * of, and its name is theirs in the ledger. @default words that the request shares with names and descriptions, under the name `tools`
   */
  readonly base?: MemoryCollection | undefined;
}

const DEFAULTS = { k: 5, collection: "tools" } as const;

const OPTIONS: FieldRules<RankedToolsProcessorFields> = { memory: true, tools: true, k: whole(1), base: COLLECTION };

/**
 * An input processor that gives each run of an agent the tools that helped runs like it, and no others of `tools`. It ranks them once
 * per run, and once more when that is resumed, by the user's last message. A tool that was called counts as used. The run must have a
 * thread, as for all learning.
 *
 * A tool that `toolChoice` names is always there. When the tools cannot be ranked, or there is no request, the run gets all of them; the
 * former is logged as RANKING_FAILED.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 * @example
 * new Agent({ memory, tools, inputProcessors: [rankedToolsProcessor({ memory, tools, k: 3 })] })
 */
export function rankedToolsProcessor(fields: RankedToolsProcessorFields): InputProcessor {
  checkFields("The ranked tools", fields, OPTIONS);
  const { memory, tools, k = DEFAULTS.k, base } = fields;
  const parts = partsOf(memory);
  const things = describedTools(tools);
  if (parts.enabled) parts.shared.vectors.share = true;
  const search = describedSearch();
  const left = new WeakMap<AgentRun, Promise<ReadonlySet<string>>>();

  /** The tools that a run does not get, of those that it was offered. */
  const leftOut = async (
    run: AgentRun,
    text: string | undefined,
    offered: (name: string) => boolean,
  ): Promise<ReadonlySet<string>> => {
    const names = new Set(things.map(({ name }) => name).filter(offered));
    if (text === undefined || names.size === 0) return new Set();
    const { threadId, resourceId } = run;
    const limit = Math.max(k, Math.min(things.length, MAX_FETCH_K));
    const found = base ? await base.search({ text, limit, threadId, resourceId }) : search(things, text);
    const hits = found.filter(({ id }) => names.has(id));
    if (hits.length === 0) {
      throw new QavrError("INVALID_ARGUMENT", "No memory that `base` found has the name of a tool as its id.");
    }
    const collection = base?.name ?? DEFAULTS.collection;
    const places = await rankDescribed(parts, run, { collection, text, hits, topK: k });
    if (!places) return new Set();
    for (const place of places) names.delete(hits[place]?.id as string);
    return names;
  };

  const processor: InputProcessor = {
    id: "qavr-tools",
    name: "RankedTools",
    async processInputStep({
      tools: given = {},
      activeTools,
      toolChoice,
      messages,
      messageList,
      requestContext,
    }: ProcessInputStepArgs) {
      try {
        const run = parts.shared.runs.ofMessages(messageList) ?? (await askingRun(parts, requestContext));
        if (!run) return undefined;
        const isOffered = (name: string): boolean =>
          Object.hasOwn(given, name) && (activeTools?.includes(name) ?? true);
        const known = left.get(run) ?? leftOut(run, requestText(messages), isOffered);
        left.set(run, known);
        const hidden = await known;
        const forced = (toolChoice as { readonly toolName?: string } | undefined)?.toolName;
        const isLeft = (name: string): boolean => !hidden.has(name) || name === forced;
        return { tools: Object.fromEntries(Object.entries(given).filter(([name]) => isLeft(name))) };
      } catch (error) {
        parts.kit.failOpen("RANKING_FAILED", "An agent's tools could not be ranked; it got all of them.", { error });
        return undefined;
      }
    },
  };
  // It may outlive its memory.
  parts.shared.useFor(processor);
  return processor;
}

/** @throws INVALID_ARGUMENT for no tools, a list, and what is no tool */
function describedTools(tools: RankedToolsProcessorFields["tools"]): Described[] {
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
  const given = isObject(tools) && !Array.isArray(tools) ? Object.entries(tools) : [];
  if (given.length === 0 || !given.every(([, tool]) => isObject(tool)))
    throw illegalOption("tools", "tools must be an object of at least one tool, as the agent takes it", tools);
  return given.map(([name, tool]) => {
    const { description } = tool as { readonly description?: unknown };
    return { name, description: typeof description === "string" ? description : "" };
  });
}
