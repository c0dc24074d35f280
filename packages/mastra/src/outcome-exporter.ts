import type { FeedbackEvent, ObservabilityExporter, ScoreEvent } from "@mastra/core/observability";
import { hearFeedback, referenceOf } from "./heard-feedback.js";
import type { Internals } from "./internals.js";
import { reportScore } from "./reward-from.js";
import { rewardOf } from "./score-rewards.js";

/**
 * Listens to what observability tells of runs after their end: live scores of the scorers that count as rewards, and feedback of
 * people. Spans are left alone, since the processors see the ends of runs themselves.
 */
export function outcomeExporter(internals: Internals): ObservabilityExporter {
  const { scores } = internals.options;
  return {
    name: "qavr",
    async exportTracingEvent() {},
    async onScoreEvent({ score }: ScoreEvent) {
      const { scorerId, scoreSource = score.source, traceId, correlationContext } = score;
      const toReward = rewardOf(scores, scorerId);
      const run = referenceOf(correlationContext ?? {}, traceId);
      // Experiments judge runs that nobody asked for; a scorer that reports by itself has spoken.
      const counts = (scoreSource === undefined || scoreSource === "live") && !internals.reporting.has(scorerId);
      if (toReward && run && counts) await reportScore(internals, run, scorerId, score.score, toReward);
    },
    async onFeedbackEvent({ feedback }: FeedbackEvent) {
      await hearFeedback(internals, referenceOf(feedback.correlationContext ?? {}, feedback.traceId), feedback);
    },
    async flush() {},
    async shutdown() {},
  };
}
