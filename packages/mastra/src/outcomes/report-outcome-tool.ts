import { createTool } from "@mastra/core/tools";
import type { Memory } from "@mastra/memory";
import { QavrError } from "@qavr/core";
import {
  type EpisodeOfRun,
  REPORT_DESCRIPTION,
  REPORT_SCHEMA,
  recordAgentReport,
  repairReport,
} from "@qavr/core/adapter";
import type { Internals } from "../internals.js";
import type { ToolCaller } from "../runs/calling-run.js";
import { hasLeft } from "../runs/run-episode.js";
import { threadAlias } from "../runs/run-lifecycle.js";
import { namespaceOf } from "../runs/run-scope.js";
import { storable } from "../runs/storable.js";

/** What the report tool can be told. */
export interface ReportToolOptions {
  /** @default "report_memory_outcome" */
  readonly name?: string | undefined;
  /** Tells the model when to report. */
  readonly description?: string | undefined;
}

/** The report tool's name when nobody says. A tool of the memory hides the agent's own of the same name, hence the long one. */
export const REPORT_TOOL_NAME = "report_memory_outcome";

/**
 * What the model is told to send, in Mastra's own terms (a Standard Schema with JSON Schema), which takes whatever it does send:
 * Mastra would refuse a wrong type before {@link repairReport} could keep the rest.
 */
const OFFERED_SCHEMA = {
  "~standard": {
    version: 1,
    vendor: "qavr",
    validate: (received: unknown) => ({ value: asRecord(received) }),
    // Copies: Mastra rewrites what it is given for some providers.
    jsonSchema: { input: () => structuredClone(REPORT_SCHEMA), output: () => structuredClone(REPORT_SCHEMA) },
  },
} as const;

/** A tool as Mastra takes it from a memory. */
type MemoryTool = ReturnType<Memory["listTools"]>[string];

/** Which run calls, and by which call. */
type Caller = ToolCaller & { readonly agent?: { readonly toolCallId?: string | undefined } | undefined };

/** The tool with which an agent reports on its own run. Its schema is JSON Schema: no zod is needed. */
export function createReportTool(internals: Internals, options: ReportToolOptions = {}): MemoryTool {
  const { name = REPORT_TOOL_NAME, description = REPORT_DESCRIPTION } = options;
  return createTool({
    id: name,
    description,
    inputSchema: OFFERED_SCHEMA as unknown as undefined,
    execute: async (input: unknown, caller: unknown) => {
      const { input: reported, problems } = repairReport(asRecord(input));
      const answer = await record(internals, reported, (caller ?? {}) as Caller);
      return [answer, ...problems].join(" ");
    },
  }) as unknown as MemoryTool;
}

async function record(
  internals: Internals,
  reported: Parameters<typeof recordAgentReport>[2],
  caller: Caller,
): Promise<string> {
  const { engine, log, throws } = internals;
  try {
    return await recordAgentReport(engine, await episodesOf(internals, caller), reported, caller.agent?.toolCallId);
  } catch (error) {
    if (throws) throw error;
    const code = QavrError.isInstance(error) ? error.code : "unexpected error";
    log("error", "OUTCOME_NOT_RECORDED", "An agent's report could not be recorded.", {
      ...(caller.runId === undefined ? {} : { runId: caller.runId }),
      error,
    });
    return `The report could not be recorded (${code}). Go on without it.`;
  }
}

/**
 * The caller's episode, by its run id and thread: a request context is anybody's, and a run id may be that of a workflow which calls
 * several agents. One that this process does not know any more must be the latest of its thread.
 */
async function episodesOf(internals: Internals, { runId, agent, requestContext }: Caller): Promise<EpisodeOfRun[]> {
  const { engine, options, runs } = internals;
  const open = runs.ofRunId(runId, agent?.threadId);
  if (open) return hasLeft(open) ? [{ episode: open.episode, namespace: open.namespace }] : [];
  if (runId === undefined || agent?.threadId === undefined) return [];
  const { threadId, resourceId } = agent;
  const namespace = namespaceOf(options, { threadId, resourceId, requestContext });
  const known = await engine.explain(storable(runId), { namespace });
  const latest = known && (await engine.explain(threadAlias(threadId), { namespace }));
  return known && latest?.episode === known.episode ? [{ episode: known.episode, namespace }] : [];
}

function asRecord(received: unknown): Record<string, unknown> {
  return typeof received === "object" && received !== null && !Array.isArray(received)
    ? (received as Record<string, unknown>)
    : {};
}
