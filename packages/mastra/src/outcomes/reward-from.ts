import { QavrError } from "@qavr/core";
import { type Outcome, quoted } from "@qavr/core/adapter";
import { failOpen, type Internals } from "../internals.js";
import { withMembers } from "../with-members.js";
import { type ReportedRun, type RunReference, reportOutcome } from "./report-outcome.js";
import { scoreIgnored } from "./score-ignored.js";
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
    const { runId, threadId, resourceId, scoreSource = "live" } = (input ?? {}) as ScorerRunShape;
    if (scoreSource === "live" && runId !== undefined) {
      const reference = { runId, ...(resourceId === undefined ? {} : { resourceId }) };
      const isKnown = await reportScore(internals, reference, id, result?.score, toReward);
      // A run without a thread has no memory, and one that is ignored has no episode.
      if (!isKnown && threadId !== undefined && !internals.options.ignore) {
        scoreIgnored(
          internals,
          `run:${id}`,
          `The scorer ${quoted(id)} judges runs that this memory recalled nothing for. Wrap it with rewardFrom() of the memory that its agent has.`,
        );
      }
    }
    return result;
  };
  // The scorer may be all that is left of a memory.
  internals.useFor(run);
  return withMembers(scorer, { run });
}

/**
 * Reports one score of a live run; a score that says nothing is left alone, and one that cannot be read is told of once. Never
 * rejects unless failures are thrown: Mastra stores a score after this.
 *
 * @returns false where the memory does not know the run
 */
export async function reportScore(
  internals: Internals,
  run: RunReference,
  scorerId: string,
  score: unknown,
  toReward: ToReward,
): Promise<boolean> {
  // A scorer that could not judge gives none.
  if (score === undefined || score === null) return true;
  const source = `scorer:${scorerId}`;
  const reward = readScore(internals, scorerId, score, toReward);
  return reward === undefined || reportQuietly(internals, run, { reward, tier: "verified", source }, source);
}

function readScore(internals: Internals, scorerId: string, score: unknown, toReward: ToReward): number | undefined {
  const source = `scorer:${scorerId}`;
  if (typeof score !== "number" || Number.isNaN(score)) {
    scoreIgnored(internals, source, `A score of the scorer ${quoted(scorerId)} is no number and teaches nothing.`);
    return undefined;
  }
  try {
    const reward = toReward(score) ?? undefined;
    if (reward === undefined && toReward === asReward) {
      scoreIgnored(
        internals,
        source,
        `A score of the scorer ${quoted(scorerId)} lies outside [0, 1] and teaches nothing. Say how its scores become rewards, those inside too: ` +
          "rewardFrom(scorer, (score) => score / 100), or a function in qavr.scores.",
      );
    }
    return reward;
  } catch (error) {
    failOpen(internals, "OUTCOME_NOT_RECORDED", "A score could not be turned into a reward.", { error }, "error");
    return undefined;
  }
}

/**
 * Reports what arrives by itself, each word once. Never rejects unless failures are thrown.
 *
 * @returns false where the memory does not know the run
 */
export async function reportQuietly(
  internals: Internals,
  run: RunReference,
  outcome: Outcome,
  channel: string,
): Promise<boolean> {
  const { runId = run.traceId } = run;
  const named = runId === undefined ? {} : { runId };
  try {
    await reportOutcome(internals, { ...run, idempotencyKey: `${channel}:${runId}`, ...outcome } as ReportedRun);
  } catch (error) {
    // Other memories of the application hear of the run too.
    if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) return false;
    if (QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) {
      internals.log("warn", "ALREADY_REWARDED", "A score or feedback arrived a second time with another value.", named);
      return true;
    }
    failOpen(
      internals,
      "OUTCOME_NOT_RECORDED",
      "A score or feedback could not be recorded.",
      { ...named, error },
      "error",
    );
  }
  return true;
}
