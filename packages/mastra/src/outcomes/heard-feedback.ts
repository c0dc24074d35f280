import type { ExportedFeedback } from "@mastra/core/observability";
import { quoted } from "@qavr/core/adapter";
import { failOpen, type Internals } from "../internals.js";
import { answered } from "../synchronous.js";
import type { RunReference } from "./report-outcome.js";
import { reportQuietly } from "./reward-from.js";
import { scoreIgnored } from "./score-ignored.js";
import { hasScale, thumbs } from "./score-rewards.js";

/** The parts of feedback that say what is judged and how. */
export type HeardFeedback = Pick<ExportedFeedback, "feedbackType" | "value" | "comment"> & {
  readonly feedbackId?: string | null | undefined;
};

/** Takes feedback as a person's word about a run, once, however often it is heard. Never rejects unless failures are thrown. */
export async function hearFeedback(
  internals: Internals,
  run: RunReference | undefined,
  feedback: HeardFeedback,
): Promise<void> {
  const { feedback: toOutcome = thumbs } = internals.options;
  try {
    const outcome = answered("feedback", toOutcome(feedback));
    const { feedbackId, feedbackType } = feedback;
    const source = `feedback:${feedbackType}`;
    if (!outcome && toOutcome === thumbs && hasScale(feedback)) {
      const why = `Feedback of the type ${quoted(String(feedbackType))} has a value that is not known to be good or bad, and teaches nothing. Say what it means with qavr.feedback.`;
      scoreIgnored(internals, source, why);
    }
    if (!outcome || !run) return;
    await reportQuietly(internals, run, { tier: "user", source, ...outcome }, `feedback:${feedbackId}`);
  } catch (error) {
    failOpen(internals, "OUTCOME_NOT_RECORDED", "Feedback could not be read.", { error }, "error");
  }
}

/** The run that an annotation is about, by the best id that it carries. */
export function referenceOf(
  {
    runId,
    resourceId,
  }: { readonly runId?: string | null | undefined; readonly resourceId?: string | null | undefined },
  traceId: string | null | undefined,
): RunReference | undefined {
  const owner = resourceId ? { resourceId } : {};
  if (runId) return { runId, ...owner };
  return traceId ? { traceId, ...owner } : undefined;
}
