import type { MastraDBMessage } from "@mastra/core/memory";
import type { OutcomeInput } from "@qavr/core";
import type { RunSession } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";

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
    await reportAll(parts, runs, outcome, "network");
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
  await reportAll(parts, parts.shared.later.takeWorkflow(requestContext), parts.outcomes[row], "workflow");
}

async function reportAll(
  { kit }: MemoryParts,
  runs: readonly RunSession[],
  outcome: OutcomeInput | null | undefined,
  source: string,
): Promise<void> {
  if (!outcome || runs.length === 0) return;
  // The ends of the runs themselves come first: of one tier the later outcome counts.
  await kit.tasks.settled();
  const episodes = (await Promise.all(runs.map((run) => run.episodes()))).flat();
  for (const { episode, namespace } of episodes) {
    try {
      const keyed = { source, idempotencyKey: `${source}:${episode}`, ...outcome };
      await kit.engine.report(episode, keyed, { namespace });
    } catch (error) {
      const message = `The verdict of a ${source} could not be recorded.`;
      kit.failOpen("OUTCOME_NOT_RECORDED", message, { error }, "error");
    }
  }
}
