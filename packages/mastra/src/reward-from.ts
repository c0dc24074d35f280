import { QavrError } from "@qavr/core";
import type { Outcome } from "@qavr/core/adapter";
import { failOpen, type Internals } from "./internals.js";
import { type RunReference, reportOutcome } from "./report-outcome.js";
import { asReward, type ToReward } from "./score-rewards.js";

/** What can be a reward: anything that `createScorer()` returns. */
export interface ScorerLike {
  readonly id: string;
  run(input: never): Promise<unknown>;
}

interface ScorerRunShape {
  readonly runId?: string;
  readonly threadId?: string;
  readonly resourceId?: string;
  readonly scoreSource?: string;
}

/**
 * The same scorer, whose live scores are reported as verified outcomes of the runs that they judge. Anything else about it stays.
 *
 * @throws INVALID_ARGUMENT for something that cannot be run
 */
export function rewardFrom<Scorer extends ScorerLike>(
  internals: Internals,
  scorer: Scorer,
  toReward: ToReward = asReward,
): Scorer {
  const id: unknown = scorer?.id;
  if (typeof scorer?.run !== "function" || typeof id !== "string") {
    throw new QavrError("INVALID_ARGUMENT", "rewardFrom takes what createScorer() returned.");
  }
  internals.reporting.add(id);
  const run = async (input: unknown): Promise<unknown> => {
    const result = (await scorer.run(input as never)) as { readonly score?: unknown };
    const { runId, resourceId, scoreSource = "live" } = input as ScorerRunShape;
    if (scoreSource === "live" && runId !== undefined) {
      await reportScore(
        internals,
        { runId, ...(resourceId === undefined ? {} : { resourceId }) },
        id,
        result?.score,
        toReward,
      );
    }
    return result;
  };
  return new Proxy(scorer, {
    get(target, name) {
      if (name === "run") return run;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Reports one score of a live run; a score that says nothing, or is about a run that was shown no memory, is left alone. */
export async function reportScore(
  internals: Internals,
  run: RunReference,
  scorerId: string,
  score: unknown,
  toReward: ToReward,
): Promise<void> {
  const reward = typeof score === "number" ? toReward(score) : undefined;
  if (reward === undefined) return;
  const source = `scorer:${scorerId}`;
  await reportQuietly(internals, run, { reward, tier: "verified", source }, source);
}

/** Reports what arrives by itself, each word once. Never rejects unless failures are thrown. */
export async function reportQuietly(
  internals: Internals,
  run: RunReference,
  outcome: Outcome,
  channel: string,
): Promise<void> {
  const { runId = run.traceId } = run;
  const named = runId === undefined ? {} : { runId };
  try {
    await reportOutcome(internals, { ...run, idempotencyKey: `${channel}:${runId}`, ...outcome });
  } catch (error) {
    // Runs that were shown no memory have no episode, and scorers judge those too.
    if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) return;
    if (QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) {
      internals.log("warn", "ALREADY_REWARDED", "A score or feedback arrived a second time with another value.", named);
      return;
    }
    failOpen(
      internals,
      "OUTCOME_NOT_RECORDED",
      "A score or feedback could not be recorded.",
      { ...named, error },
      "error",
    );
  }
}
