import type { Mastra } from "@mastra/core/mastra";
import type { FeedbackEvent, ObservabilityExporter, ScoreEvent } from "@mastra/core/observability";
import { hearFeedback, referenceOf } from "./heard-feedback.js";
import type { Internals } from "./internals.js";
import { reportScore } from "./reward-from.js";
import { quoted, scoreIgnored } from "./score-ignored.js";
import { namedScorers, rewardOf } from "./score-rewards.js";

/**
 * Listens to what observability tells of runs after their end: live scores of the scorers that count as rewards, and feedback of
 * people. Spans are left alone, since the processors see the ends of runs themselves.
 */
export function outcomeExporter(internals: Internals, mastra: Mastra): ObservabilityExporter {
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
      if (!counts) return;
      if (!toReward) warnOfMisspelling(internals, mastra);
      else if (run) await reportScore(internals, run, scorerId, score.score, toReward);
    },
    async onFeedbackEvent({ feedback }: FeedbackEvent) {
      await hearFeedback(internals, referenceOf(feedback.correlationContext ?? {}, feedback.traceId), feedback);
    },
    async flush() {},
    async shutdown() {},
  };
}

/** Says which scorers are named that the application does not have: scores arrive, and none of theirs ever will. */
function warnOfMisspelling(internals: Internals, mastra: Mastra): void {
  const scorers = mastra.listScorers?.();
  if (scorers === undefined) return;
  const known = new Set(Object.values(scorers).map(({ id }) => id));
  for (const id of namedScorers(internals.options.scores)) {
    if (known.has(id)) continue;
    const why = `qavr.scores names the scorer ${quoted(id)}, which this Mastra does not have. It has ${[...known].map(quoted).join(", ")}.`;
    scoreIgnored(internals, `named:${id}`, why);
  }
}
