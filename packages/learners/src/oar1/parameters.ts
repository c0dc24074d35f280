/**
 * The numbers of `oar@1`. They were tuned on hwu64, clinc150 and sealtools with seeds above 100 (never on banking77 or
 * nlupp-hotels) and belong to the version. Variances are of a Gaussian prior, in logits² per unit request vector.
 */
export const OAR1 = {
  /** Share of the mean request that is subtracted from a request. Range 0.5..1. */
  centring: 0.9,
  /** Prior variance of the baseline's bias. Range 0.05..1. */
  biasVariance: 0.1,
  /** Start of the bias: a little under even odds. Logits. */
  bias: -0.3,
  /** Prior variance of the baseline's vector. Range 0.5..2. */
  baselineVariance: 1,
  /** Prior variance of a memory's vector. Range 0.5..4: more learns faster and affects other kinds of request more. */
  memoryVariance: 1.3,
  /** Speed at which it falls with the memory's information. Range 0..0.2. Unit: 1 / information. */
  settling: 0.05,
  /** Least curvature of the logistic likelihood in a step: bounds the step on runs predicted with certainty. Range 0.01..0.25. */
  leastCurvature: 0.05,
  /** Newton steps towards a run's dual number, and a vote's. Range 1..4. */
  runSteps: 2,
  voteSteps: 3,
  /** Share of the blame for a bad surprise that is divided by suspicion and not by relevance. Range 0..0.7. */
  suspicion: 0.5,
  /** Logits over which suspicion falls by a factor e. Range 0.2..2. */
  suspicionScale: 0.5,
  /** Share of its credit that a memory without a vote keeps in a run with votes. Range 0..1. */
  unvotedShare: 0.5,
  /** Prior of the share of voted runs: runs without votes. Range 1..100. */
  voteWarmup: 10,
  /** Weight of a logit against similarity, at the reference spread. Range 1..4. Unit: similarity per logit. */
  weight: 2.2,
  /** Largest shift downwards and upwards, at the reference spread. Unit: similarity. */
  penaltyCap: 1,
  boostCap: 0.8,
  /** Cosine of request and memory at which a boost counts in full. Range 0.3..0.7. */
  boostCosine: 0.6,
  /** Runs after which a penalty on a memory that was not shown again has fallen by a factor e. Range 1500..10000. */
  forgiveness: 3000,
  /** Bonus of an untried memory at the top of the list, at the reference spread. Unit: similarity. */
  freshBonus: 0.6,
  /** Evidence at which half of the bonus is left. Unit: runs. */
  freshEvidence: 5,
  /** Share of the bonus that is dropped when every run has votes: votes test memories faster. Range 0..1. */
  freshVoted: 0.5,
  /** Weight of the scalar advantage against similarity, at the reference spread. Range 1..4. Unit: similarity per reward. */
  scalarWeight: 3,
  /** Prior of a scalar advantage: runs that went as expected. Range 1..20. */
  scalarShrinkage: 5,
  /** Standard errors subtracted from the scalar's slope, and its prior evidence at slope 0. Range 0..2, 0.5..10. */
  scalarErrors: 0.3,
  scalarPrior: 2,
  /** Evidence that a regression remembers: new evidence replaces the oldest. Range 5..50. Unit: squared predictions. */
  evidenceWindow: 15,
  /** Variance of a run's surprise. */
  surpriseVariance: 0.2,
  /** Prior of the regression of surprise on prediction. */
  gateNumerator: 0.9,
  gateDenominator: 1,
  gatePrior: 0.5,
  /** Standard errors that its slope must exceed before the gate opens. Range 0..2. */
  gateErrors: 0.6,
  /** Slope, less its errors, at which the gate is fully open. Range 0.05..0.5. */
  gateFull: 0.08,
  /** Power of relative similarity in the familiarity of a request. Range 1..4. */
  familiarPower: 2.5,
  /** Least local evidence: bounds the logarithm. */
  familiarFloor: 0.05,
  /** Reduction of familiarity per unit of the best candidate's height, at the reference spread: good matches need more evidence. */
  familiarHeight: 4,
} as const;

/** Familiarity at which boosts and penalties begin to count; they count in full one unit above. Unit: log of local evidence. */
export interface Guard {
  readonly boosts: number;
  readonly penalties: number;
}

export type Oar1Setting = "balanced" | "guard" | "strict";

/** From most gain to most safety on new kinds of request. */
export const OAR1_SETTINGS: Readonly<Record<Oar1Setting, Guard | undefined>> = {
  balanced: undefined,
  guard: { boosts: -2, penalties: -3 },
  strict: { boosts: -1.5, penalties: -2.4 },
};
