import type { Mastra } from "@mastra/core/mastra";
import type { FeedbackEvent, ObservabilityExporter, ScoreEvent } from "@mastra/core/observability";
import { quoted } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { scoreIgnored, warnOfNoObservability } from "../wiring-warnings.js";
import { recordFeedback } from "./feedback.js";
import { listen } from "./listeners.js";
import { referenceOf, scoredRun } from "./report-outcome.js";
import { reportScore } from "./reward-from.js";
import { namedScorers, rewardOf } from "./score-rewards.js";

/** An observability that accepts exporters; early versions of Mastra 1 and an observability that is off do not. */
interface Exports {
  registerExporter?(exporter: ObservabilityExporter): void;
}

/**
 * Subscribes a memory to scores and feedback that observability exports after the end of runs. Registers one exporter for all
 * memories.
 */
export function subscribeToObservability(mastra: Mastra, parts: MemoryParts): void {
  const exports = mastra.observability?.getDefaultInstance?.() as Exports | undefined;
  if (typeof exports?.registerExporter !== "function") {
    warnOfNoObservability(parts);
    return;
  }
  const listeners = listen(exports, parts);
  if (listeners) exports.registerExporter(outcomeExporter(listeners, mastra));
}

/** An exporter without spans, since the processors see the ends of runs themselves. */
function outcomeExporter(listeners: Iterable<MemoryParts>, mastra: Mastra): ObservabilityExporter {
  return {
    name: "qavr",
    async exportTracingEvent() {},
    async onScoreEvent({ score }: ScoreEvent) {
      const { scorerId, scoreSource = score.source, traceId, correlationContext } = score;
      for (const parts of listeners) {
        const run = scoredRun(parts, correlationContext ?? {}, traceId);
        const toReward = rewardOf(parts.options.scores, scorerId);
        // Scores of experiments do not count, and a scorer of rewardFrom() has reported already.
        const counts = (scoreSource === undefined || scoreSource === "live") && !parts.reporting.has(scorerId);
        if (!counts) continue;
        if (!toReward) warnOfMisspelling(parts, mastra);
        else if (run) await reportScore(parts, run, scorerId, score.score, toReward);
      }
    },
    async onFeedbackEvent({ feedback }: FeedbackEvent) {
      const run = referenceOf(feedback.correlationContext ?? {}, feedback.traceId);
      for (const parts of listeners) await recordFeedback(parts, run, feedback);
    },
    async flush() {},
    async shutdown() {},
  };
}

/** Logs scorers of the options that the application does not have. */
function warnOfMisspelling(parts: MemoryParts, mastra: Mastra): void {
  const scorers = mastra.listScorers?.();
  if (scorers === undefined) return;
  const known = new Set(Object.values(scorers).map(({ id }) => id));
  for (const id of namedScorers(parts.options.scores)) {
    if (known.has(id)) continue;
    const why = `qavr.scores names the scorer ${quoted(id)}, which this Mastra does not have. It has ${[...known].map(quoted).join(", ")}.`;
    scoreIgnored(parts, `named:${id}`, why);
  }
}
