import type { InputProcessor, ProcessInputStepArgs } from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import {
  assertProcedures,
  type FieldRules,
  type FoundProcedure,
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
import { type MemoryParts, partsOf } from "../memory-parts.js";
import { episodesOf, offeredSchema, type ReportingCaller } from "../outcomes/report-outcome-tool.js";
import type { QavrMemory } from "../qavr-memory.js";
import { requestText } from "../recall/plan-recall.js";
import { type AgentRun, hasRecordedMemories } from "../runs/agent-run.js";
import { askingRun, rankDescribed } from "./rank-described.js";

/** Fields of {@link procedureProcessor}. */
export interface ProcedureProcessorFields {
  /** The agent's memory. */
  readonly memory: QavrMemory;
  /** `openProcedures(root, { engine: memory.engine })` of `@qavr/markdown`. */
  readonly procedures: ProcedureSource;
  /** The most procedures in a run's listing. @default 20 */
  readonly k?: number | undefined;
  /** The most characters of the listing's lines. @default 4,000 */
  readonly maxCharacters?: number | undefined;
}

const DEFAULTS = { k: 20, maxCharacters: PROCEDURE_CHARACTERS } as const;
const OPTIONS: FieldRules<ProcedureProcessorFields> = {
  memory: true,
  procedures: true,
  k: whole(1),
  maxCharacters: whole(1),
};

/** Tag of the listing's system message. */
const TAG = "qavr-procedures";

/**
 * An input processor for procedures in Markdown: each run gets a list of those that fit its request and helped in runs like it, by id and
 * description, as many as fit, and gets the tools `load_procedure` and `report_procedure_outcome`. A procedure that is listed counts as
 * shown, one that is loaded as used; the run's outcome, or the report, is a verdict on it.
 *
 * Outside a run with a thread the listing has the order of the search. When procedures cannot be found, RANKING_FAILED is logged.
 *
 * @throws INVALID_ARGUMENT
 */
export function procedureProcessor(fields: ProcedureProcessorFields): InputProcessor {
  const { memory, procedures, k, maxCharacters } = resolveOptions("The procedures", fields, DEFAULTS, OPTIONS);
  const parts = partsOf(memory);
  assertProcedures(procedures);
  if (parts.enabled) parts.shared.vectors.share = true;
  const { collection } = procedures;
  const tools = Object.fromEntries(
    PROCEDURE_TOOLS.map((given) => [given.name, procedureTool(parts, procedures, given)]),
  );
  /** By run, or by the messages of one without a run. */
  const listings = new WeakMap<object, Promise<readonly string[]>>();

  const listingOf = async (run: AgentRun | undefined, text: string | undefined): Promise<readonly string[]> => {
    if (text === undefined) return [];
    const limit = (run && (await parts.kit.fetchSize({ namespace: run.namespace, topK: k }, run.runId))) ?? k;
    const hits = await collection.search({ text, limit });
    if (hits.length === 0) return [];
    const lineAt = (place: number): string => procedureLine(hits[place] as FoundProcedure);
    const choose = (places: readonly number[]): number[] =>
      withinBudget(places, maxCharacters, (place) => lineAt(place).length);
    const request = { collection: collection.name, text, hits, topK: k, choose };
    const places = run && (await rankDescribed(parts, run, request));
    return (places ?? choose(hits.slice(0, k).map((_, place) => place))).map(lineAt);
  };

  const processor: InputProcessor = {
    id: "qavr-procedures",
    name: "Procedures",
    async processInputStep({ tools: given = {}, messages, messageList, requestContext }: ProcessInputStepArgs) {
      try {
        const run = parts.shared.runs.ofMessages(messageList) ?? (await askingRun(parts, requestContext));
        for (const { name } of PROCEDURE_TOOLS) run?.procedureTools.add(name);
        const listing = listings.get(run ?? messageList) ?? listingOf(run, requestText(messages));
        listings.set(run ?? messageList, listing);
        const lines = await listing;
        messageList.clearSystemMessages(TAG);
        if (lines.length > 0) {
          messageList.addSystem({ role: "system", content: procedureListing(lines) }, TAG);
        }
      } catch (error) {
        parts.kit.failOpen("RANKING_FAILED", "An agent's procedures could not be listed.", { error });
      }
      return { tools: { ...given, ...tools } };
    },
  };
  // It may outlive its memory.
  parts.shared.useFor(processor);
  return processor;
}

function procedureTool(
  parts: MemoryParts,
  source: ProcedureSource,
  { name, description, schema, answer }: ProcedureTool,
): unknown {
  return createTool({
    id: name,
    description,
    inputSchema: offeredSchema(schema) as unknown as undefined,
    execute: async (given: unknown, calledFrom: unknown) => {
      const caller = (calledFrom ?? {}) as ReportingCaller;
      const input = (given ?? {}) as Readonly<Record<string, unknown>>;
      const run = parts.shared.runs.ofRunId(caller.runId, caller.agent?.threadId);
      if (!run?.session || hasRecordedMemories(run)) {
        return answer(source, input, await episodesOf(parts, caller).catch(() => []));
      }
      // A model also loads a procedure that nothing in its request matches, and the run's outcome counts for that one, too.
      const { episode, namespace } = run;
      const answered = await answer(source, input, [{ episode, namespace }]);
      const view = await parts.kit.engine.explain(episode, { namespace }).catch(() => undefined);
      run.tookProcedure = (view?.exposures.length ?? 0) > 0;
      return answered;
    },
  });
}
