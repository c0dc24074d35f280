import { QavrError } from "@qavr/core";
import { type Outcome, quoted, withMembers } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { scoreIgnored } from "../wiring-warnings.js";
import { type ReportedRun, type RunReference, reportOutcome, scoredRun } from "./report-outcome.js";
import { asReward, type ToReward } from "./score-rewards.js";

/** A scorer, as `createScorer()` returns it. */
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
 * The same scorer. Its live scores are also reported as verified outcomes of the runs that they judge.
 *
 * @throws INVALID_ARGUMENT for an object that is no scorer
 */
export function rewardFrom<Scorer extends ScorerLike>(
  parts: MemoryParts,
  scorer: Scorer,
  toReward: ToReward = asReward,
): Scorer {
  const id: unknown = scorer?.id;
  if (typeof scorer?.run !== "function" || typeof id !== "string") {
    throw new QavrError("INVALID_ARGUMENT", "rewardFrom takes the scorer that createScorer() returned.");
  }
  parts.reporting.add(id);
  const run = async (input: unknown): Promise<unknown> => {
    const result = (await scorer.run(input as never)) as { readonly score?: unknown };
    const { runId, threadId, resourceId, scoreSource = "live" } = (input ?? {}) as ScorerRunShape;
    const reference = scoredRun(parts, { runId, threadId, resourceId }, undefined);
    if (scoreSource === "live" && reference) {
      const isKnown = await reportScore(parts, reference, id, result?.score, toReward);
      // A run without a thread has no memory, and one that is ignored has no episode.
      if (!isKnown && threadId !== undefined && !parts.options.ignore) {
        scoreIgnored(
          parts,
          `run:${id}`,
          `The scorer ${quoted(id)} judges runs that this memory recalled nothing for. Wrap it with rewardFrom() of the memory that its agent has.`,
        );
      }
    }
    return result;
  };
  // The scorer may outlive its memory.
  parts.shared.useFor(run);
  return withMembers(scorer, { run });
}

/**
 * Reports one score of a live run. An unreadable score is logged once per scorer. Rejects only when failures reach the caller: Mastra
 * stores a score after this.
 *
 * @returns false where the memory does not know the run
 */
export async function reportScore(
  parts: MemoryParts,
  run: RunReference,
  scorerId: string,
  score: unknown,
  toReward: ToReward,
): Promise<boolean> {
  // A scorer that could not judge gives none.
  if (score === undefined || score === null) return true;
  const source = `scorer:${scorerId}`;
  const reward = readScore(parts, scorerId, score, toReward);
  return reward === undefined || reportQuietly(parts, run, { reward, tier: "verified", source }, source);
}

function readScore(parts: MemoryParts, scorerId: string, score: unknown, toReward: ToReward): number | undefined {
  const source = `scorer:${scorerId}`;
  if (typeof score !== "number" || Number.isNaN(score)) {
    scoreIgnored(parts, source, `A score of the scorer ${quoted(scorerId)} is no number and teaches nothing.`);
    return undefined;
  }
  try {
    const reward = toReward(score) ?? undefined;
    if (reward === undefined && toReward === asReward) {
      scoreIgnored(
        parts,
        source,
        `A score of the scorer ${quoted(scorerId)} lies outside [0, 1] and teaches nothing. Say how its scores become rewards, those inside too: ` +
          "rewardFrom(scorer, (score) => score / 100), or a function in qavr.scores.",
      );
    }
    return reward;
  } catch (error) {
    const message = "A score could not be turned into a reward.";
    parts.kit.failOpen("OUTCOME_NOT_RECORDED", message, { error }, "error");
    return undefined;
  }
}

/**
 * Reports a score or feedback that arrives by itself, once. Rejects only when failures reach the caller.
 *
 * @returns false where the memory does not know the run
 */
export async function reportQuietly(
  parts: MemoryParts,
  run: RunReference,
  outcome: Outcome,
  channel: string,
): Promise<boolean> {
  const { episode, runId = run.traceId ?? "" } = run;
  const named = episode === undefined ? { runId } : { episode };
  try {
    await reportOutcome(parts, { ...run, idempotencyKey: `${channel}:${episode ?? runId}`, ...outcome } as ReportedRun);
  } catch (error) {
    // The run may belong to another memory of the application.
    if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) return false;
    if (QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) {
      parts.kit.log("warn", "ALREADY_REWARDED", "A score or feedback arrived a second time with another value.", named);
      return true;
    }
    const message = "A score or feedback could not be recorded.";
    parts.kit.failOpen("OUTCOME_NOT_RECORDED", message, { ...named, error }, "error");
  }
  return true;
}
