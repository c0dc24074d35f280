import type { Mastra } from "@mastra/core/mastra";
import type { FeedbackEvent, ObservabilityExporter, ScoreEvent } from "@mastra/core/observability";
import { quoted } from "@qavr/core/adapter";
import type { Internals } from "../internals.js";
import { warnOfNoObservability } from "../wiring-warnings.js";
import { hearFeedback, referenceOf } from "./heard-feedback.js";
import { Listeners } from "./listeners.js";
import { reportScore } from "./reward-from.js";
import { scoreIgnored } from "./score-ignored.js";
import { namedScorers, rewardOf } from "./score-rewards.js";

/** Where an observability keeps who listens through it: memories that a function makes anew are one listener. */
const LISTENERS: unique symbol = Symbol.for("qavr.mastra.exporter") as never;

/** What takes exporters; early versions of Mastra 1 and an observability that is off have none. */
interface Exports {
  registerExporter?(exporter: ObservabilityExporter): void;
  [LISTENERS]?: Listeners;
}

/**
 * Listens to what observability tells of runs after their end: live scores of the scorers that count as rewards, and feedback of
 * people. Registers one exporter, however many memories listen.
 */
export function hearObservability(mastra: Mastra, internals: Internals): void {
  const exports = mastra.observability?.getDefaultInstance?.() as Exports | undefined;
  if (typeof exports?.registerExporter !== "function") {
    warnOfNoObservability(internals);
    return;
  }
  const known = exports[LISTENERS];
  if (known) {
    known.add(internals);
    return;
  }
  const listeners = new Listeners(internals);
  exports[LISTENERS] = listeners;
  exports.registerExporter(outcomeExporter(listeners, mastra));
}

/** Spans are left alone, since the processors see the ends of runs themselves. */
function outcomeExporter(listeners: Listeners, mastra: Mastra): ObservabilityExporter {
  return {
    name: "qavr",
    async exportTracingEvent() {},
    async onScoreEvent({ score }: ScoreEvent) {
      const { scorerId, scoreSource = score.source, traceId, correlationContext } = score;
      const run = referenceOf(correlationContext ?? {}, traceId);
      for (const internals of listeners) {
        const toReward = rewardOf(internals.options.scores, scorerId);
        // Experiments judge runs that nobody asked for; a scorer that reports by itself has spoken.
        const counts = (scoreSource === undefined || scoreSource === "live") && !internals.reporting.has(scorerId);
        if (!counts) continue;
        if (!toReward) warnOfMisspelling(internals, mastra);
        else if (run) await reportScore(internals, run, scorerId, score.score, toReward);
      }
    },
    async onFeedbackEvent({ feedback }: FeedbackEvent) {
      const run = referenceOf(feedback.correlationContext ?? {}, feedback.traceId);
      for (const internals of listeners) await hearFeedback(internals, run, feedback);
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
