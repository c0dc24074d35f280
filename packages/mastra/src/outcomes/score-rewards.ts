import type { ExportedFeedback } from "@mastra/core/observability";
import type { Outcome } from "@qavr/core/adapter";

/** From a scorer's number to a reward in [0, 1]; undefined says nothing. */
export type ToReward = (score: number) => number | undefined;

/** Which scorers' scores are rewards: their ids, or for each id how its numbers become rewards. */
export type ScoreRewards = readonly string[] | Readonly<Record<string, ToReward>>;

/** From feedback to an outcome; undefined says nothing. */
export type FeedbackReward = (
  feedback: Pick<ExportedFeedback, "feedbackType" | "value" | "comment">,
) => Outcome | undefined;

/** A score as it is, where it lies in [0, 1]. */
export function asReward(score: number): number | undefined {
  return score >= 0 && score <= 1 ? score : undefined;
}

/** Whether something names scorers as {@link ScoreRewards} does. */
export function isScoreRewards(value: unknown): value is ScoreRewards {
  if (Array.isArray(value)) return value.every((id) => typeof id === "string");
  return (
    typeof value === "object" && value !== null && Object.values(value).every((rule) => typeof rule === "function")
  );
}

/** The ids of the scorers that are named. */
export function namedScorers(rewards: ScoreRewards = []): readonly string[] {
  return Array.isArray(rewards) ? rewards : Object.keys(rewards);
}

/** How a scorer's numbers become rewards; undefined for one that was not named. */
export function rewardOf(rewards: ScoreRewards | undefined, scorerId: string): ToReward | undefined {
  if (rewards === undefined) return undefined;
  if (Array.isArray(rewards)) return rewards.includes(scorerId) ? asReward : undefined;
  return Object.hasOwn(rewards, scorerId) ? (rewards as Readonly<Record<string, ToReward>>)[scorerId] : undefined;
}

/** What a thumb says. Other feedback has no scale that is known here. */
export const thumbs: FeedbackReward = ({ feedbackType, value }) => {
  const success = feedbackType === "thumbs" ? thumbOf(value) : undefined;
  return success === undefined ? undefined : { success };
};

/** Thumbs that are said in a word. */
const THUMBS: Readonly<Record<string, boolean>> = { up: true, down: false, true: true, false: false };

/** True for a thumb up, false for one down: a number, above zero or not, also written out; a boolean; `up` and `down`. */
function thumbOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value > 0;
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (Object.hasOwn(THUMBS, word)) return THUMBS[word];
  return word === "" || Number.isNaN(Number(word)) ? undefined : Number(word) > 0;
}

/** Whether feedback is on some scale, and no text: a thumb, a number, or what reads as one. */
export function hasScale({ feedbackType, value }: Parameters<FeedbackReward>[0]): boolean {
  return feedbackType === "thumbs" || thumbOf(value) !== undefined;
}
