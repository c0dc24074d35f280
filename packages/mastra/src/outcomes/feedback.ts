import type { ExportedFeedback } from "@mastra/core/observability";
import { quoted } from "@qavr/core/adapter";
import { answered } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import { scoreIgnored } from "../wiring-warnings.js";
import type { RunReference } from "./report-outcome.js";
import { reportQuietly } from "./reward-from.js";
import { hasScale, thumbs } from "./score-rewards.js";

/** The parts of feedback with its judgement. */
export type ReceivedFeedback = Pick<ExportedFeedback, "feedbackType" | "value" | "comment"> & {
  readonly feedbackId?: string | null | undefined;
  readonly timestamp?: Date | undefined;
};

/** Records feedback as a person's outcome of a run, once however often it arrives. Rejects only when failures reach the caller. */
export async function recordFeedback(
  parts: MemoryParts,
  run: RunReference | undefined,
  feedback: ReceivedFeedback,
): Promise<void> {
  try {
    const own = answered("feedback", parts.options.feedback?.(feedback));
    const outcome = own === undefined ? thumbs(feedback) : own;
    const { feedbackType, timestamp } = feedback;
    // Early versions of Mastra 1 give feedback no id.
    const feedbackId = feedback.feedbackId ?? `${feedbackType}@${Number(timestamp)}`;
    const source = `feedback:${feedbackType}`;
    if (outcome === undefined && hasScale(feedback)) {
      const why = `Feedback of the type ${quoted(String(feedbackType))} has a value that is not known to be good or bad, and teaches nothing. Say what it means with qavr.feedback.`;
      scoreIgnored(parts, source, why);
    }
    if (!outcome || !run) return;
    await reportQuietly(parts, run, { tier: "user", source, ...outcome }, `feedback:${feedbackId}`);
  } catch (error) {
    parts.kit.failOpen("OUTCOME_NOT_RECORDED", "Feedback could not be read.", { error }, "error");
  }
}
