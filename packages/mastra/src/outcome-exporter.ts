import type { CorrelationContext, FeedbackEvent, ObservabilityExporter, ScoreEvent } from "@mastra/core/observability";
import { failOpen, type Internals } from "./internals.js";
import type { RunReference } from "./report-outcome.js";
import { reportQuietly, reportScore } from "./reward-from.js";
import { rewardOf, thumbs } from "./score-rewards.js";

/**
 * Listens to what observability tells of runs after their end: live scores of the scorers that count as rewards, and feedback of
 * people, such as the thumbs in Studio. Spans are left alone, since the processors see the ends of runs themselves.
 */
export function outcomeExporter(internals: Internals): ObservabilityExporter {
  const { scores, feedback: toOutcome = thumbs } = internals.options;
  return {
    name: "qavr",
    async exportTracingEvent() {},
    async onScoreEvent({ score }: ScoreEvent) {
      const { scorerId, scoreSource = score.source, traceId, correlationContext } = score;
      const toReward = rewardOf(scores, scorerId);
      const run = referenceOf(correlationContext, traceId);
      // Experiments judge runs that nobody asked for; a scorer that reports by itself has spoken.
      const counts = (scoreSource === undefined || scoreSource === "live") && !internals.reporting.has(scorerId);
      if (toReward && run && counts) await reportScore(internals, run, scorerId, score.score, toReward);
    },
    async onFeedbackEvent({ feedback }: FeedbackEvent) {
      try {
        const outcome = toOutcome(feedback);
        const run = referenceOf(feedback.correlationContext, feedback.traceId);
        if (!outcome || !run) return;
        const { feedbackId, feedbackType } = feedback;
        const source = `feedback:${feedbackType}`;
        await reportQuietly(internals, run, { tier: "user", source, ...outcome }, `feedback:${feedbackId}`);
      } catch (error) {
        failOpen(internals, "OUTCOME_NOT_RECORDED", "Feedback could not be read.", { error }, "error");
      }
    },
    async flush() {},
    async shutdown() {},
  };
}

function referenceOf(context: CorrelationContext | undefined, traceId: string | undefined): RunReference | undefined {
  const { runId, resourceId } = context ?? {};
  const owner = resourceId === undefined ? {} : { resourceId };
  if (runId !== undefined) return { runId, ...owner };
  return traceId === undefined ? undefined : { traceId, ...owner };
}
