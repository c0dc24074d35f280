import type { MastraDBMessage } from "@mastra/core/memory";
import type { Internals } from "../internals.js";
import { parkRun } from "./run-lifecycle.js";

/** Where Mastra notes on an answer which of its tool calls wait for somebody. */
const WAITING = ["suspendedTools", "pendingToolApprovals"] as const;

/**
 * Makes the episodes of runs that are being suspended durable. No hook of a processor sees a suspension, but before it Mastra
 * saves the answer with a note of the tool calls that wait, and with the id of the run that can be resumed.
 */
export async function parkSuspended(internals: Internals, messages: readonly MastraDBMessage[]): Promise<void> {
  for (const { threadId, content } of messages) {
    for (const runId of waitingRuns(content?.metadata)) {
      const run = internals.runs.ofRunId(runId, threadId);
      if (run?.recorded) await parkRun(internals, run, runId);
    }
  }
}

function waitingRuns(metadata: unknown): Set<string> {
  const noted = (metadata ?? {}) as Record<string, Record<string, { readonly runId?: unknown }> | undefined>;
  const ids = WAITING.flatMap((key) => Object.values(noted[key] ?? {}).map((entry) => entry?.runId));
  return new Set(ids.filter((id) => typeof id === "string"));
}
