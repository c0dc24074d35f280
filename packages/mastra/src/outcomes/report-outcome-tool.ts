import { createTool } from "@mastra/core/tools";
import type { Memory } from "@mastra/memory";
import { type EpisodeOfRun, fieldsOf, REPORT_DESCRIPTION, REPORT_SCHEMA, repairReport } from "@qavr/core/adapter";
import type { ReportToolOptions } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import { hasRecordedMemories } from "../runs/agent-run.js";
import { storable, threadAlias } from "../runs/aliases.js";
import type { ToolCaller } from "../runs/calling-run.js";
import { namespaceOf } from "../runs/run-scope.js";

/** Default name of the report tool. A memory's tool hides an agent's own tool of the same name, hence the long one. */
export const REPORT_TOOL_NAME = "report_memory_outcome";

/**
 * A schema for the model: a Standard Schema with JSON Schema, which accepts any input. A stricter one would let Mastra refuse a wrong
 * type before the rest could be kept.
 */
export function offeredSchema(schema: object): object {
  return {
    "~standard": {
      version: 1,
      vendor: "qavr",
      validate: (received: unknown) => ({ value: fieldsOf(received) }),
      // Copies, since Mastra rewrites schemas for some providers.
      jsonSchema: { input: () => structuredClone(schema), output: () => structuredClone(schema) },
    },
  };
}

/** A tool as Mastra takes it from a memory. */
type MemoryTool = ReturnType<Memory["listTools"]>[string];

/** The calling run and the id of the call. */
export type ReportingCaller = ToolCaller & {
  readonly agent?: { readonly toolCallId?: string | undefined } | undefined;
};

/** The tool with which an agent reports on its own run. Its schema is JSON Schema: no zod is needed. */
export function createReportTool(parts: MemoryParts, options: ReportToolOptions = {}): MemoryTool {
  const { name = REPORT_TOOL_NAME, description = REPORT_DESCRIPTION } = options;
  return createTool({
    id: name,
    description,
    inputSchema: offeredSchema(REPORT_SCHEMA) as unknown as undefined,
    execute: async (input: unknown, calledFrom: unknown) => {
      const caller = (calledFrom ?? {}) as ReportingCaller;
      return parts.kit.reportByAgent(() => episodesOf(parts, caller), repairReport(fieldsOf(input)), {
        id: caller.agent?.toolCallId,
        runId: caller.runId,
      });
    },
  }) as unknown as MemoryTool;
}

/**
 * The caller's episodes, by its run id and thread, those of runs that it goes on with too: a request context is not reliable, and several
 * agents of a workflow share one run id. A run that this process no longer knows must be the latest of its thread.
 */
export async function episodesOf(
  { kit: { engine }, options, shared: { runs } }: MemoryParts,
  { runId, agent, requestContext }: ReportingCaller,
): Promise<readonly EpisodeOfRun[]> {
  const open = runs.ofRunId(runId, agent?.threadId);
  if (open) return (hasRecordedMemories(open) && open.session?.episodes()) || [];
  if (runId === undefined || agent?.threadId === undefined) return [];
  const { threadId, resourceId } = agent;
  const namespace = namespaceOf(options, { threadId, resourceId, requestContext });
  const known = await engine.explain(storable(runId), { namespace });
  const latest = known && (await engine.explain(threadAlias(threadId), { namespace }));
  return known && latest?.episode === known.episode ? [{ episode: known.episode, namespace }] : [];
}
