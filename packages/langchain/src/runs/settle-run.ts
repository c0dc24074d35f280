import type { OutcomeInput } from "@qavr/core";
import { awaitBriefly, type EpisodeOfRun, endJudged, outcomePerEpisode } from "@qavr/core/adapter";
import type { Internals } from "../internals.js";
import { narrowUnread } from "./narrow-exposures.js";
import { joinParked, openedEpisodes, parkingAlias, type Waiting } from "./run-episodes.js";
import { isAbort, isControlFlow, isDrained, isRefusedAnswer } from "./run-errors.js";
import { isInFailedPart, type RootRun } from "./run-tree.js";
import { type FinishedRun, finishedRun, judge, type RunEnd, unjudged } from "./verdict.js";

/** Hears of a root run that ended, was not aborted and is not interrupted. Never rejects. */
export type AfterRun = (run: SettledRun) => Promise<void>;

/** A root run whose outcome is recorded, or will be when the store answers. */
export interface SettledRun extends FinishedRun {
  /** How it went, in [0, 1] or as true and false; null or undefined when nobody knows, as of a run that merely ended. */
  readonly reward: OutcomeInput["reward"];
  /** Where its memories are recorded; empty for a run that retrieved nothing. */
  readonly episodes: readonly EpisodeOfRun[];
}

/** What is said about each episode of a run. */
interface Ending {
  readonly outcome?: OutcomeInput | undefined;
  /** Said instead where the engine refuses the outcome. */
  readonly fallback?: OutcomeInput | undefined;
  readonly uncredited?: RootRun["exposures"];
}

/**
 * Turns the end of a root run into the outcome of its episodes. Closes the root before anything is awaited: the same end may
 * be announced twice.
 *
 * Rejects only when failures of learning are to be thrown.
 */
export async function settleRun(internals: Internals, root: RootRun, end: RunEnd): Promise<void> {
  internals.runs.close(root);
  try {
    const waiting = waitingAfter(root, end);
    if (root.kind !== "chain") await recording(internals, root, endAll(internals, root, {}));
    else if (waiting) await recording(internals, root, parkAll(internals, root, waiting));
    else await judgeAndEnd(internals, root, end);
  } catch (error) {
    sayNotRecorded(internals, root, error);
  }
}

/**
 * How a root run waits after this end; undefined when it is over. What it ended with decides: an interrupt in one branch does not undo the
 * error that another branch stopped it with.
 */
function waitingAfter({ interrupted, resumes }: RootRun, end: RunEnd): Waiting | undefined {
  if (!("error" in end)) return interrupted === "no" ? undefined : interrupted;
  // Draining is announced by its error alone, going on by LangGraph.
  if (isDrained(end.error)) return "announced";
  if (isControlFlow(end.error)) return interrupted === "announced" ? "announced" : "seen";
  // The question that its answer does not fit stands as it stood before.
  if (isRefusedAnswer(end.error)) return resumes ? "announced" : "seen";
  return undefined;
}

/**
 * Waits for what is recorded of a run, in full where failures of learning are to be thrown; else a store that does not answer must not
 * hold the run up, and the rest goes on in the background.
 *
 * @returns false if it has failed by then
 */
async function recording(internals: Internals, root: RootRun, work: Promise<void>): Promise<boolean> {
  const { engine, underWay, throws } = internals;
  let failed = false;
  const recorded = work.catch((error: unknown) => {
    failed = true;
    sayNotRecorded(internals, root, error);
  });
  if (throws) await recorded;
  else await awaitBriefly(engine, underWay.track(recorded));
  return !failed;
}

/** @throws the failure, where failures of learning are to be thrown */
function sayNotRecorded({ log, throws }: Internals, root: RootRun, error: unknown): void {
  if (throws) throw error;
  log("error", "OUTCOME_NOT_RECORDED", "The end of a run could not be recorded.", { runId: root.id, error });
}

async function judgeAndEnd(internals: Internals, root: RootRun, end: RunEnd): Promise<void> {
  const { afterRun } = internals;
  await joinParked(internals, root);
  narrowUnread(internals, root);
  if (root.episodes.length === 0 && afterRun.size === 0) return;
  const outcome = await judge(root, end, internals);
  // A failed part that the run did without (a retry, a fallback) earns nothing from its success; a run that failed as a
  // whole may have failed because of any of its parts.
  const uncredited = "error" in end ? [] : root.exposures.filter(({ run }) => isInFailedPart(run));
  const ending = endAll(internals, root, { outcome, fallback: unjudged(end), uncredited });
  if (!(await recording(internals, root, ending))) return;
  if (afterRun.size === 0 || ("error" in end && isAbort(end.error, root.signals))) return;
  const reward = outcome?.tier === "completed" ? undefined : outcome?.reward;
  const settled = { ...finishedRun(root, end), reward, episodes: await openedEpisodes(root) };
  await Promise.all([...afterRun].map((tell) => tell(settled)));
}

async function endAll(
  internals: Internals,
  root: RootRun,
  { outcome, fallback, uncredited = [] }: Ending,
): Promise<void> {
  const outcomeOf = await outcomePerEpisode(internals.engine, await openedEpisodes(root), outcome);
  await forEachEpisode(root, async (episode, namespace) => {
    const exposures = uncredited.filter((shown) => shown.episode === episode).map(({ exposure }) => exposure);
    // One run has one automatic outcome, however often its end is announced.
    const keyed = (said: OutcomeInput | undefined) => said && { idempotencyKey: `run:${root.id}:${episode}`, ...said };
    const said = { verdict: keyed(outcomeOf(episode)), fallback: keyed(fallback) };
    await endJudged(internals.engine, episode, said, { namespace, uncredited: exposures });
  });
}

/** An interrupted run waits for its thread to go on, in this process or another; without a thread it never will. */
async function parkAll(internals: Internals, root: RootRun, waiting: Waiting): Promise<void> {
  const { engine } = internals;
  const alias = parkingAlias(root, waiting);
  if (alias === undefined) return endAll(internals, root, {});
  await forEachEpisode(root, async (episode) => {
    for (const { run, exposure, ...shown } of root.exposures) {
      // Which parts failed is known now and not when the run is resumed.
      if (shown.episode === episode && isInFailedPart(run)) engine.narrow(episode, exposure, []);
    }
    await engine.park(episode, { alias });
  });
}

/** Tries every episode, whatever becomes of the others. @throws the first error */
async function forEachEpisode(
  root: RootRun,
  act: (episode: string, namespace: string) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const { episode, namespace } of await openedEpisodes(root)) {
    await act(episode, namespace).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}
