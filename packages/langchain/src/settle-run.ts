import { type OutcomeInput, QavrError } from "@qavr/core";
import type { Internals } from "./internals.js";
import { joinParked, threadAlias } from "./run-episodes.js";
import { isControlFlow } from "./run-errors.js";
import { isInFailedPart, type RootRun } from "./run-tree.js";
import { judge, type RunEnd } from "./verdict.js";

/**
 * Turns the end of a root run into the outcome of its episodes. Closes the root before anything is awaited: the same end may
 * be announced twice.
 *
 * Rejects only when failures of learning are to be thrown.
 */
export async function settleRun(internals: Internals, root: RootRun, end: RunEnd): Promise<void> {
  const { runs, log, throws } = internals;
  runs.close(root);
  try {
    const stopped = root.interrupted || ("error" in end && isControlFlow(end.error));
    if (root.kind !== "chain") await endAll(internals, root, undefined, []);
    else if (stopped) await parkAll(internals, root);
    else await judgeAndEnd(internals, root, end);
  } catch (error) {
    if (throws) throw error;
    log("error", "OUTCOME_NOT_RECORDED", "The end of a run could not be recorded.", {
      runId: root.id,
      error: String(error),
    });
  }
}

async function judgeAndEnd(internals: Internals, root: RootRun, end: RunEnd): Promise<void> {
  await joinParked(internals, root);
  if (root.episodes.size === 0) return;
  const outcome = await judge(root, end, internals);
  // A failed part that the run did without (a retry, a fallback) earns nothing from its success; a run that failed as a
  // whole may have failed because of any of its parts.
  const uncredited = "error" in end ? [] : root.exposures.filter(({ run }) => isInFailedPart(run));
  await endAll(internals, root, outcome, uncredited);
}

async function endAll(
  internals: Internals,
  root: RootRun,
  outcome: OutcomeInput | undefined,
  uncredited: RootRun["exposures"],
): Promise<void> {
  for (const [namespace, pending] of root.episodes) {
    const episode = await pending;
    const exposures = uncredited.filter((shown) => shown.episode === episode).map(({ exposure }) => exposure);
    // One run has one automatic outcome, however often its end is announced.
    const keyed = outcome && { idempotencyKey: `run:${root.id}:${episode}`, ...outcome };
    await endEpisode(internals, episode, keyed, { namespace, uncredited: exposures });
  }
}

async function endEpisode(
  { engine }: Internals,
  episode: string,
  outcome: OutcomeInput | undefined,
  options: { readonly namespace: string; readonly uncredited: readonly number[] },
): Promise<void> {
  try {
    await engine.end(episode, outcome, options);
  } catch (error) {
    // The run was quiet for longer than an open episode is kept: it is recorded, and may still be reported on.
    if (outcome && QavrError.isInstance(error, "UNKNOWN_EPISODE")) {
      await engine.report(episode, outcome, { namespace: options.namespace });
      return;
    }
    // The verdict was refused; what was shown is recorded all the same.
    if (outcome && isRefused(error)) await engine.end(episode, undefined, options);
    throw error;
  }
}

function isRefused(error: unknown): boolean {
  return (["NOT_SHOWN", "INVALID_REWARD", "INVALID_ARGUMENT", "INVALID_ID"] as const).some((code) =>
    QavrError.isInstance(error, code),
  );
}

/** An interrupted run waits for its thread to go on, in this process or another; without a thread it never will. */
async function parkAll(internals: Internals, root: RootRun): Promise<void> {
  const { engine } = internals;
  if (root.thread === undefined) return endAll(internals, root, undefined, []);
  for (const pending of root.episodes.values()) {
    const episode = await pending;
    for (const { run, exposure, ...shown } of root.exposures) {
      // Which parts failed is known now and not when the run is resumed.
      if (shown.episode === episode && isInFailedPart(run)) engine.narrow(episode, exposure, []);
    }
    await engine.park(episode, { alias: threadAlias(root.thread) });
  }
}
