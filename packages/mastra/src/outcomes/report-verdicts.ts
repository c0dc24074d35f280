import type { MastraDBMessage } from "@mastra/core/memory";
import type { OutcomeInput } from "@qavr/core";
import { createRunSession } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import type { EndedRun } from "../runs/later-verdicts.js";

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

/** Records a verdict behind its caller, as the ends of runs are, and after those: of one tier the later outcome counts. */
async function reportAll(
  { kit }: MemoryParts,
  runs: readonly EndedRun[],
  outcome: OutcomeInput | null | undefined,
  source: string,
): Promise<void> {
  if (!outcome || runs.length === 0) return;
  const recorded = kit.record(async () => {
    await Promise.allSettled(runs.map((run) => run.recorded));
    const verdict = createRunSession({ engine: kit.engine, open: () => "", outcomeKey: source });
    for (const { episode, namespace } of (await Promise.all(runs.map(({ session }) => session.episodes()))).flat()) {
      verdict.add(namespace, episode);
    }
    await verdict.end({ outcome: { source, ...outcome } });
  }, undefined);
  await kit.held(recorded);
}
