import type { RunOutcome } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { narrowUnread } from "./narrow-exposures.js";
import { type AnnouncedEnd, isFailure, ownEnd, type RunEnd } from "./run-end.js";
import { isAbort, isControlFlow, isDrained, isRefusedAnswer } from "./run-errors.js";
import { joinSuspended, noteSuspended, suspensionAlias, type Waiting } from "./run-session.js";
import { textsOf } from "./run-texts.js";
import { isInFailedPart, type RootRun } from "./run-tree.js";
import { finishedRun, judge, unjudged } from "./verdict.js";

/** The parts of a memory that take part in the end of a run. */
type SettlingParts = Pick<MemoryParts, "kit" | "runs" | "scope" | "evaluate" | "afterRun">;

/**
 * Turns the end of a root run into the outcome of its episodes. Closes the root before any await: the same end may be announced
 * twice.
 *
 * Rejects only when failures of learning reach the caller.
 */
export async function settleRun(parts: SettlingParts, root: RootRun, announced: AnnouncedEnd): Promise<void> {
  const { kit, runs } = parts;
  runs.close(root);
  try {
    const end = await endOf(announced);
    const waiting = end && waitingAfter(root, end);
    if (root.kind !== "chain") await kit.held(recordEnd(parts, root, {}));
    else if (waiting) {
      // A run that is interrupted again waits with the episode that it resumed.
      await joinSuspended(parts, root);
      const recorded = record(parts, root, suspension(parts, root, waiting));
      // Another process may resume it as soon as the caller knows of the interrupt.
      await kit.held(recorded, true);
    } else await judgeAndEnd(parts, root, end);
  } catch (error) {
    const message = "The end of a run could not be recorded.";
    kit.failOpen("OUTCOME_NOT_RECORDED", message, { runId: root.id, error }, "error");
  }
}

/** The end of a root run; undefined where it cannot be told from those of other inputs. A run whose output is an error has failed. */
async function endOf(announced: AnnouncedEnd): Promise<RunEnd | undefined> {
  await undefined; // Now the ends that are announced together are all noted.
  const end = ownEnd(announced);
  return end && "output" in end && isFailure(end) ? { error: end.output } : end;
}

/**
 * How a root run waits after this end; undefined when it is over. Its last error decides: an interrupt in one branch does not undo
 * the error of another branch.
 */
function waitingAfter({ interrupted, resumes }: RootRun, end: RunEnd): Waiting | undefined {
  if (!("error" in end)) return interrupted === "no" ? undefined : interrupted;
  // LangGraph announces a drain by its error alone, and the resume separately.
  if (isDrained(end.error)) return "announced";
  if (isControlFlow(end.error)) return interrupted === "announced" ? "announced" : "seen";
  // An answer that does not fit the question leaves the question open.
  if (isRefusedAnswer(end.error)) return resumes ? "announced" : "seen";
  return undefined;
}

async function judgeAndEnd(parts: SettlingParts, root: RootRun, end: RunEnd | undefined): Promise<void> {
  const { kit, evaluate, afterRun } = parts;
  await joinSuspended(parts, root);
  narrowUnread(kit, root);
  if (root.session.size === 0 && afterRun.size === 0) return;
  if (!end) return kit.held(recordEnd(parts, root, {}));
  const outcome = await judge(kit, evaluate, root, end);
  // A failed part that was replaced (a retry, a fallback) earns nothing from the run's success. In a run that failed, any part may
  // be the cause.
  const uncredited = "error" in end ? [] : root.exposures.filter(({ run }) => isInFailedPart(run));
  const ending = { outcome, fallback: unjudged(end), uncredited, texts: textsOf(root, end) };
  const recorded = recordEnd(parts, root, ending);
  if (afterRun.size === 0 || ("error" in end && isAbort(end.error, root.signals))) return kit.held(recorded);
  const reward = outcome?.tier === "completed" ? undefined : outcome?.reward;
  const settled = { ...finishedRun(root, end), reward, episodes: await root.session.episodes() };
  const followers = [...afterRun];
  const followed = recorded.then(async (isRecorded) => {
    if (isRecorded) await Promise.all(followers.map(({ follow }) => follow(settled)));
  });
  kit.tasks.track(followed);
  await kit.held(recorded);
  if (followers.some(({ waits }) => waits)) await followed;
}

function recordEnd(parts: SettlingParts, root: RootRun, ending: RunOutcome): Promise<boolean> {
  return record(parts, root, () => root.session.end(ending));
}

/** A run without memories writes nothing, and its success says nothing of a store that is away. */
function record({ kit }: SettlingParts, { id, session }: RootRun, work: () => Promise<void>): Promise<boolean> {
  return session.size === 0 ? Promise.resolve(true) : kit.record(work, id);
}

/**
 * Suspends a run until its thread continues, in this process or another. Without a thread it ends, since no run will resume it; likewise
 * where its thread went on meanwhile.
 */
function suspension(parts: SettlingParts, root: RootRun, waiting: Waiting): () => Promise<void> {
  const alias = suspensionAlias(root, waiting);
  if (alias === undefined) return () => root.session.end({});
  for (const exposure of root.exposures) {
    // The run that resumes this one will not know which parts failed.
    if (isInFailedPart(exposure.run)) root.session.shown(exposure, []);
  }
  const isWaiting = noteSuspended(parts, root, alias);
  return () => (isWaiting() ? root.session.suspend(alias) : root.session.end({}));
}
