import { type OutcomeInput, type OutcomeTier, QavrError } from "@qavr/core";
import { fromVerdict, type Verdict } from "@qavr/core/adapter";
import { storableId } from "../document-ids.js";
import type { LangSmithFeedback } from "./feedback.js";

/**
 * How a feedback key is read as success.
 * - `"score"`: the score, true, false or a number in [0, 1]
 * - an object: a reward in [0, 1] for each category, looked up by the feedback's value, else by its score
 * - a function: its verdict on the feedback; null and undefined for nothing
 */
export type FeedbackReading =
  | "score"
  | Readonly<Record<string, number | boolean>>
  | ((feedback: LangSmithFeedback) => Verdict);

/**
 * The outcome in a feedback; undefined when it holds no judgement of success (a comment, a correction).
 *
 * @throws INVALID_REWARD for a score or category that the reading does not cover, and what a reading function throws
 */
export function readFeedback(
  feedback: LangSmithFeedback,
  reading: FeedbackReading,
  tier: OutcomeTier,
): OutcomeInput | undefined {
  if (typeof reading === "function") return fromVerdict(reading(feedback), storableId, tier);
  const said = reading === "score" ? scoreOf(feedback) : categoryOf(feedback, reading);
  if (said === undefined) return undefined;
  if (typeof said === "boolean" || (typeof said === "number" && said >= 0 && said <= 1)) return { reward: said, tier };
  throw new QavrError(
    "INVALID_REWARD",
    `The feedback ${feedback.key} gives ${typeof said === "string" ? "a category" : String(said)}, which is no reward in [0, 1]. Say how to read it: keys: { ${feedback.key}: … }.`,
    { details: { key: feedback.key, feedback: feedback.id } },
  );
}

function scoreOf({ score, value }: LangSmithFeedback): unknown {
  if (score !== null && score !== undefined) return score;
  return typeof value === "boolean" || typeof value === "number" || typeof value === "string" ? value : undefined;
}

/** The reward of a category; the category itself, which is no reward, for one that is not listed. */
function categoryOf({ score, value }: LangSmithFeedback, rewards: Readonly<Record<string, number | boolean>>): unknown {
  const names = [value, score].filter((name) => ["string", "number", "boolean"].includes(typeof name)).map(String);
  if (names.length === 0) return undefined;
  const known = names.find((name) => Object.hasOwn(rewards, name));
  return known === undefined ? names[0] : rewards[known];
}
