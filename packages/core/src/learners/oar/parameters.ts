/**
 * The numbers of `oar@1`. They were tuned on hwu64, clinc150 and sealtools with seeds above 100 (never on banking77 or
 * nlupp-hotels) and belong to the version: other numbers are another learner.
 */
export interface OarNumbers {
  /** Prior variance of the baseline's bias, in logits². Range 0.05..1. */
  readonly biasVariance: number;
  /** Prior variance of the baseline's vector. Range 0.1..2. */
  readonly baselineVariance: number;
  /** Prior variance of a memory's vector. Range 0.5..4: more learns faster and forgets order. */
  readonly memoryVariance: number;
  /** How fast a memory's variance falls with what is known about it: `k = variance / (1 + 0.05 · information)`. Range 0..0.2. */
  readonly settling: number;
  /** Least curvature of the logistic likelihood that a step assumes. Range 0.01..0.25. */
  readonly leastCurvature: number;
  /** Newton steps towards a run's dual number. Range 1..4. */
  readonly newtonSteps: number;
  /** How much of the blame for a bad surprise goes by suspicion instead of relevance. Range 0..1. */
  readonly suspicion: number;
  /** Logits over which suspicion falls by a factor e. Range 0.2..2. */
  readonly suspicionScale: number;
  /** What a memory without a vote keeps of the run's credit in a run with votes. Range 0..1. */
  readonly unvotedShare: number;
  /** How strongly a memory without a vote is pulled towards "makes no difference" in a run with votes, in votes. Range 0..1. */
  readonly silence: number;
  /** Weight of a logit against similarity, at the reference spread. Range 1..4. Unit: similarity per logit. */
  readonly weight: number;
  /** Largest shift downwards, at the reference spread. Unit: similarity. */
  readonly penaltyCap: number;
  /** Largest shift upwards without votes, and how much votes add to it, at the reference spread. Unit: similarity. */
  readonly boostCap: number;
  readonly votedBoostCap: number;
  /** Votes after which the larger cap holds. */
  readonly votesForCap: number;
  /** Cosine of request and memory at which a boost counts in full: it must come from like requests. Range 0.2..0.6. */
  readonly boostCosine: number;
  /** Runs after which a penalty on a memory that was not shown again has fallen by a factor e. Range 1000..10000. */
  readonly forgiveness: number;
  /** Bonus of an untried memory at the top of the list, at the reference spread. Unit: similarity. */
  readonly freshBonus: number;
  /** Evidence at which half of the bonus is left. Unit: runs. */
  readonly freshEvidence: number;
  /** Power of standing in the bonus. Range 2..8. */
  readonly freshPower: number;
  /** Share of the bonus that goes where every run is voted on. Range 0..1. */
  readonly freshVoted: number;
  /** Familiarity at which boosts begin to count, and over which they come to count in full. Unit: log of local evidence. */
  readonly familiarFrom: number;
  readonly familiarWidth: number;
  /** What a unit of the best candidate's height (at the reference spread) takes off familiarity. Range 0..6. */
  readonly familiarHeight: number;
  /** Smallest local evidence that is told from none. */
  readonly familiarFloor: number;
  /** Powers of standing with which candidates speak for the familiarity of a request, and for the list's own level. */
  readonly familiarPower: number;
  /** Power of the cosine of request and footprint in local evidence. */
  readonly localPower: number;
  /** Prior of the regressions of surprise on prediction … */
  readonly gateNumerator: number;
  readonly gateDenominator: number;
  readonly contrastNumerator: number;
  readonly contrastDenominator: number;
  readonly gatePrior: number;
  /** … weight that one more run leaves to the ones before it. Range 0.99..0.9999. */
  readonly gateDecay: number;
  /** Standard errors that the slope must stand above 0 before the gate opens. Range 0..2. */
  readonly gateErrors: number;
  /** Variance of a run's surprise. */
  readonly gateVariance: number;
  /** Slope, less its errors, at which the gate is fully open. Range 0.05..0.5. */
  readonly gateFull: number;
  /** Ratio of the two slopes at which the gate begins to open, and over which it opens fully. */
  readonly contrastFrom: number;
  readonly contrastWidth: number;
  /** Standard errors by which the contrast is read as larger than it was measured. */
  readonly contrastErrors: number;
}

export const OAR: OarNumbers = {
  biasVariance: 0.1,
  baselineVariance: 1,
  memoryVariance: 1.3,
  settling: 0.05,
  leastCurvature: 0.05,
  newtonSteps: 2,
  suspicion: 0.5,
  suspicionScale: 0.5,
  unvotedShare: 0.5,
  silence: 1,
  weight: 2.2,
  penaltyCap: 1,
  boostCap: 0.5,
  votedBoostCap: 0.5,
  votesForCap: 3,
  boostCosine: 0.4,
  forgiveness: 3000,
  freshBonus: 0.6,
  freshEvidence: 5,
  freshPower: 4,
  freshVoted: 0.5,
  familiarFrom: -2.9,
  familiarWidth: 1,
  familiarHeight: 4,
  familiarFloor: 0.05,
  familiarPower: 2.5,
  localPower: 3,
  gateNumerator: 1.2,
  gateDenominator: 1,
  contrastNumerator: 0.6,
  contrastDenominator: 0.5,
  gatePrior: 0.5,
  gateDecay: 0.9995,
  gateErrors: 0.8,
  gateVariance: 0.2,
  gateFull: 0.12,
  contrastFrom: 0.2,
  contrastWidth: 0.4,
  contrastErrors: 0,
};
