import * as OAR from "./parameters.js";
import type { OarShared } from "./state.js";

/** Remaining prior variance of the baseline's vector: `k_b = max(0.15, 1.5 / (1 + 0.01 runs))`. */
export function baselineVariance({ lessons }: OarShared): number {
  return Math.max(OAR.baselineFloor, OAR.baselineVariance / (1 + OAR.baselineSettling * lessons));
}

/** Remaining prior variance of a memory's vector: `k = max(0.5, 1.3 / (1 + 0.2 I))`, I its information. */
export function vectorVariance(information: number): number {
  return Math.max(OAR.vectorFloor, OAR.memoryVariance / (1 + OAR.settling * information));
}

/** Remaining prior variance of a memory's reputation: `κ = max(0.05, 1 / (1 / 0.07 + 0.5 I))`, I its information. */
export function reputationVariance(information: number): number {
  return Math.max(OAR.reputationFloor, 1 / (1 / OAR.reputationVariance + OAR.reputationSettling * information));
}

/**
 * Value of a context's logit, larger when it was learned from requests like this one: `x · cos(v, z) / 0.6`
 *
 * @param logit x > 0
 * @param norm |v|
 */
export function boost(logit: number, norm: number): number {
  return (logit * logit) / norm / OAR.boostCosine;
}

/**
 * Share u of a memory's evidence that counts in the bonus: `e^(−age / (1000 + 20 t / (n + 1)))`; of a penalty, `∛u` counts. A memory that
 * was passed over for long is tried again. One that few requests ask for is not out of date.
 *
 * @param evidence n
 * @param last t, the run of the collection in which the memory was last shown
 * @param runs of the collection; age = runs − t
 */
export function evidenceLeft(evidence: number, last: number, runs: number): number {
  return Math.exp(-(runs - last) / (OAR.forgetting + (OAR.forgettingTurns * last) / (evidence + 1)));
}

/** Share of a context's logit that counts after `n` runs: `n / (n + 1)`. */
export function contextShare(evidence: number): number {
  return evidence / (evidence + OAR.contextEvidence);
}

/**
 * A memory's logit beyond the level of the request, which the other memories of the list share. It moves towards 0 and never past it:
 * `0` between level and 0, `y − level` when both have one sign, else `y`.
 */
export function beyondLevel(logit: number, level: number): number {
  return logit > 0 ? Math.max(0, logit - Math.max(0, level)) : Math.min(0, logit - Math.min(0, level));
}

/** Share of a collection's runs with votes, drawn towards 0: `voted / (runs + 10)`. */
export function voteRate({ votedRuns, lessons }: OarShared): number {
  return votedRuns / (lessons + OAR.voteWarmup);
}

/**
 * Bonus of a memory with less evidence than N:
 * `0.2 (1 − 0.5 · vote rate) (claim · (N − n) / ((N + 1) (1 + n / 5)) + need / (1 + n))`
 *
 * A host whose similarities differ from request to request tries all memories by itself, and gets no bonus. A host that always
 * gives the same order gets it. The second part grows for 16 runs while the same memories are tried again and requests still fail, until
 * each memory has had its turn.
 *
 * @param claim in [0, 1]: relative², and 1 for all memories where no request succeeds
 * @param evidence u n of the memory, n in the formula
 * @param most N, the greatest claim · u n of the list
 * @param need `0.3 max(0, 1 − P₀ / 0.6) √min(N, 16)`
 */
export function freshness(claim: number, evidence: number, most: number, votes: number, need: number): number {
  const untried = (claim * (most - evidence)) / ((most + 1) * (1 + evidence / OAR.freshEvidence));
  return OAR.freshBonus * (1 - OAR.freshVoted * votes) * (untried + need / (1 + evidence));
}

/**
 * Discount of a memory that is like one shown above it: `cos² / (1 + n / 10)`, 0 for a negative cosine.
 *
 * @param cosine of their vectors
 * @param evidence n, of the memory itself
 */
export function overlap(cosine: number, evidence: number): number {
  return cosine > 0 ? (OAR.overlap * cosine * cosine) / (1 + evidence / OAR.overlapEvidence) : 0;
}
