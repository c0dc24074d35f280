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

/** How a scorer's numbers become rewards; undefined for one that was not named. */
export function rewardOf(rewards: ScoreRewards | undefined, scorerId: string): ToReward | undefined {
  if (rewards === undefined) return undefined;
  if (Array.isArray(rewards)) return rewards.includes(scorerId) ? asReward : undefined;
  return Object.hasOwn(rewards, scorerId) ? (rewards as Readonly<Record<string, ToReward>>)[scorerId] : undefined;
}

/** What a thumb says: above zero it helped, else it did not. Other feedback has no scale that is known here. */
export const thumbs: FeedbackReward = ({ feedbackType, value }) => {
  const vote = typeof value === "number" ? value : Number.NaN;
  return feedbackType === "thumbs" && !Number.isNaN(vote) ? { success: vote > 0 } : undefined;
};
