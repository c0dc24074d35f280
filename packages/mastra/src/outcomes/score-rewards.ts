import type { ExportedFeedback } from "@mastra/core/observability";
import type { Outcome } from "@qavr/core/adapter";

/** From a scorer's number to a reward in [0, 1]; undefined for no evidence. */
export type ToReward = (score: number) => number | undefined;

/** Scorers whose scores are rewards: their ids, or for each id a function from its numbers to rewards. */
export type ScoreRewards = readonly string[] | Readonly<Record<string, ToReward>>;

/** From feedback to an outcome; undefined leaves the feedback to the default reader, null is no evidence. */
export type FeedbackReward = (
  feedback: Pick<ExportedFeedback, "feedbackType" | "value" | "comment">,
) => Outcome | null | undefined;

/** The score itself, if it lies in [0, 1]. */
export function asReward(score: number): number | undefined {
  return score >= 0 && score <= 1 ? score : undefined;
}

/** True for a value of the type {@link ScoreRewards}. */
export function isScoreRewards(value: unknown): value is ScoreRewards {
  if (Array.isArray(value)) return value.every((id) => typeof id === "string");
  return (
    typeof value === "object" && value !== null && Object.values(value).every((rule) => typeof rule === "function")
  );
}

/** The ids of the named scorers. */
export function namedScorers(rewards: ScoreRewards = []): readonly string[] {
  return Array.isArray(rewards) ? rewards : Object.keys(rewards);
}

/** A scorer's function from its numbers to rewards; undefined for a scorer that is not named. */
export function rewardOf(rewards: ScoreRewards | undefined, scorerId: string): ToReward | undefined {
  if (rewards === undefined) return undefined;
  if (Array.isArray(rewards)) return rewards.includes(scorerId) ? asReward : undefined;
  return Object.hasOwn(rewards, scorerId) ? (rewards as Readonly<Record<string, ToReward>>)[scorerId] : undefined;
}

/** Thumbs as outcomes. Other feedback has no known scale. */
export const thumbs: FeedbackReward = ({ feedbackType, value }) => {
  const success = feedbackType === "thumbs" ? thumbOf(value) : undefined;
  return success === undefined ? undefined : { success };
};

/** Thumbs as words. */
const THUMBS: Readonly<Record<string, boolean>> = { up: true, down: false, true: true, false: false };

/** True for a thumb up, false for one down: a number, above zero or not, also written out; a boolean; `up` and `down`. */
function thumbOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value > 0;
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (Object.hasOwn(THUMBS, word)) return THUMBS[word];
  return word === "" || Number.isNaN(Number(word)) ? undefined : Number(word) > 0;
}

/** True for feedback on a scale: a thumb, a number, or text that reads as one. */
export function hasScale({ feedbackType, value }: Parameters<FeedbackReward>[0]): boolean {
  return feedbackType === "thumbs" || thumbOf(value) !== undefined;
}
