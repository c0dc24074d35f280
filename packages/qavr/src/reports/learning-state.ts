import type { NamespaceStatus } from "@qavr/core";
import { count, plural, points } from "../terminal/text.js";

/**
 * - `empty`: no run is recorded
 * - `unjudged`: runs are recorded, and no outcome has taught anything
 * - `cold`: too few have taught for much of a gain
 * - `learning`: rankings use what was learned
 * - `harming`: the interval of the measured lift lies below 0
 */
export interface LearningState {
  readonly level: "empty" | "unjudged" | "cold" | "learning" | "harming";
  /** The state in words. */
  readonly sentence: string;
}

/** Runs below which a share says nothing: most checks need as many. */
export const LEAST_RUNS = 50;
/** Runs that must have taught before learning counts as warm, where no single context is. */
const WARM_RUNS = 100;
const REPORT =
  "Track every run to its end, and report how it went: evaluate, a report by run id, or the agent's report tool.";

/** Is it learning, does it help, how sure is that? */
export function stateOf(status: NamespaceStatus): LearningState {
  const { episodes, learner, taught, contexts, otherContexts, lift, memoryLift } = status;
  const lifts = `${idleSentence(status)}${liftSentence(status)}${memorySentence(memoryLift)}`;
  if (episodes.recorded === 0) return { level: "empty", sentence: "No run is recorded yet." };
  if (taught === 0) {
    // Most checks of the doctor need more runs.
    const next = episodes.recorded < LEAST_RUNS ? REPORT : "Run npx qavr doctor.";
    const sentence = `Not learning: ${plural(episodes.recorded, "run")} recorded, and no outcome has taught anything. ${next}`;
    return { level: "unjudged", sentence };
  }
  const measured = lift?.lift;
  const harming = typeof measured === "object" && measured.high < 0;
  const warm = contexts.filter(({ state }) => state === "warm").length;
  const first = otherContexts ? "the first " : "";
  const several = contexts.length > 1 ? `, ${warm} of ${first}${contexts.length} contexts warm` : "";
  const have = `${plural(taught, "run")} ${taught === 1 ? "has" : "have"} taught`;
  // The only published learner that learns nothing from one context for another.
  const apart = learner.startsWith("q-value@") ? contexts.reduce((sum, context) => sum + context.taught, 0) : 0;
  const cold = warm === 0 && taught - apart < WARM_RUNS;
  if (cold && !harming) {
    const sentence = `Cold: ${have} so far${several}. Expect little gain yet. ${lifts}`;
    return { level: "cold", sentence };
  }
  if (harming) {
    return { level: "harming", sentence: `Learning harms: ${have}${several}. ${lifts} Run npx qavr doctor.` };
  }
  return { level: "learning", sentence: `Learning: ${have}${several}. ${lifts}` };
}

/** Names the collections whose learned lists did no better than the host's in control runs. */
function idleSentence({ collections }: NamespaceStatus): string {
  const idle = collections.filter(({ learner: { controls = 0 } }) => Number(controls) > 0.5);
  if (idle.length === 0) return "";
  return `Learned lists do no better than the host's so far in ${idle.map(({ collection }) => collection).join(", ")}. `;
}

function liftSentence({ learner, lift }: NamespaceStatus): string {
  if (!lift) {
    // Of the published learners, the default one alone draws them by itself.
    const when = learner.startsWith("oar@")
      ? "after 300 outcomes of a collection, where searches find judged memories again, or "
      : "";
    return `Lift is not measured yet: runs in the host's order are drawn ${when}with the option holdout.`;
  }
  const { learned, holdout, needed } = lift.episodes;
  if (lift.lift === "not enough") {
    return `Lift needs ${needed} judged runs on each side: ${count(learned)} learned, ${count(holdout)} held out so far.`;
  }
  const { difference, low, high } = lift.lift;
  return `Lift ${points(difference)} points (95 % interval ${points(low)} … ${points(high)}, ${count(learned)} learned and ${count(holdout)} held-out runs).`;
}

function memorySentence(lift: NamespaceStatus["memoryLift"]): string {
  if (!lift) return "";
  const { shown, off, needed } = lift.episodes;
  if (lift.lift === "not enough") {
    return ` The worth of memory needs ${needed} judged runs on each side: ${count(shown)} with memories, ${count(off)} without so far.`;
  }
  const { difference, low, high } = lift.lift;
  return ` Memory itself is worth ${points(difference)} points (${points(low)} … ${points(high)}, ${count(off)} runs without memories).`;
}
