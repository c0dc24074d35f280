import type { MastraDBMessage } from "@mastra/core/memory";
import type { MemoryParts } from "../memory-parts.js";
import { reportAll } from "../runs/later-verdicts.js";

/** Mastra's note of a network's completion check. An aborted network has one without any check. */
const CHECKED = /^###### /m;
/** The check of a network's last attempt. Others say that it goes on. */
const LAST = /max iterations reached/i;

/**
 * Records the verdict of a network about the runs in it: the outcome of `stop` when its completion check passed, that of `incomplete`
 * when the last attempt failed it. Mastra saves each check as a message. Rejects only when failures reach the caller.
 */
export async function reportNetworks(parts: MemoryParts, messages: readonly MastraDBMessage[]): Promise<void> {
  for (const { threadId, content } of messages) {
    const { mode, completionResult } = (content?.metadata ?? {}) as {
      readonly mode?: unknown;
      readonly completionResult?: { readonly passed?: boolean };
    };
    if (mode !== "network" || completionResult?.passed === undefined) continue;
    const text = content.parts?.map((part) => (part.type === "text" ? part.text : "")).join("\n") ?? "";
    const { passed } = completionResult;
    if (!passed && !LAST.test(text)) continue;
    const runs = parts.shared.later.takeNetwork(threadId);
    const outcome = CHECKED.test(text) ? parts.outcomes[passed ? "stop" : "incomplete"] : null;
    await reportAll(parts, runs, outcome && { source: "network", ...outcome }, "network");
  }
}

/** The end of a workflow, as `onFinish` gets it. */
export interface FinishedWorkflow {
  readonly status: string;
  readonly requestContext: object;
}

/**
 * Records the end of a workflow as the outcome of the agents' runs on its request context: that of `stop` for `success`, that of
 * `error` for `failed`. Rejects only when failures reach the caller.
 */
export async function reportWorkflow(parts: MemoryParts, { status, requestContext }: FinishedWorkflow): Promise<void> {
  const row = status === "success" ? "stop" : status === "failed" ? "error" : undefined;
  if (row === undefined) return;
  const outcome = parts.outcomes[row];
  const runs = parts.shared.later.takeWorkflow(requestContext);
  await reportAll(parts, runs, outcome && { source: "workflow", ...outcome }, "workflow");
}
