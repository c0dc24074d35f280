/**
 * The numbers of `oar@1`. They were tuned on hwu64, clinc150 and sealtools with seeds above 100 (never on banking77 or
 * nlupp-hotels) and belong to the version: other numbers are another learner. Variances are of a Gaussian prior, in logits² per
 * unit request vector.
 */
export const OAR = {
  /** How much of the mean request is taken out of a request. The rest stands for what all requests share. Range 0.5..1. */
  centring: 0.9,
  /** Prior variance of the baseline's bias. Range 0.05..1. */
  biasVariance: 0.1,
  /** Where the bias starts: a little under even odds. Logits. */
  bias: -0.3,
  /** Prior variance of the baseline's vector. Range 0.5..2. */
  baselineVariance: 1,
  /** Prior variance of a memory's vector. Range 0.5..4: more learns faster, and spills over to other kinds of request. */
  memoryVariance: 1.3,
  /** How fast that falls with what is known about the memory. Range 0..0.2. Unit: 1 / information. */
  settling: 0.05,
  /** Least curvature of the logistic likelihood that a step assumes: bounds the step on runs that seem certain. Range 0.01..0.25. */
  leastCurvature: 0.05,
  /** Newton steps towards a run's dual number, and a vote's. Range 1..4. */
  runSteps: 2,
  voteSteps: 3,
  /** How much of the blame for a bad surprise goes by suspicion instead of relevance. Range 0..0.7. */
  suspicion: 0.5,
  /** Logits over which suspicion falls by a factor e. Range 0.2..2. */
  suspicionScale: 0.5,
  /** What a memory without a vote keeps of the run's credit in a run with votes. Range 0..1. */
  unvotedShare: 0.5,
  /** Runs without votes that the share of voted runs starts from. Range 1..100. */
  voteWarmup: 10,
  /** Weight of a logit against similarity, at the reference spread. Range 1..4. Unit: similarity per logit. */
  weight: 2.2,
  /** Largest shift downwards and upwards, at the reference spread. Unit: similarity. */
  penaltyCap: 1,
  boostCap: 0.8,
  /** Cosine of request and memory at which a boost counts in full: it must come from like requests. Range 0.3..0.7. */
  boostCosine: 0.6,
  /** Runs after which a penalty on a memory that was not shown again has fallen by a factor e. Range 1500..10000. */
  forgiveness: 3000,
  /** Bonus of an untried memory at the top of the list, at the reference spread. Unit: similarity. */
  freshBonus: 0.6,
  /** Evidence at which half of the bonus is left. Unit: runs. */
  freshEvidence: 5,
  /** Share of the bonus that goes where every run is voted on: votes try memories faster than showing does. Range 0..1. */
  freshVoted: 0.5,
  /** What a memory without evidence loses beside one that points the same way, at the reference spread. Range 0..2. Unit: similarity. */
  overlap: 1,
  /** Evidence at which half of that is left. Unit: runs. */
  overlapEvidence: 10,
  /** Memories beyond those shown that may take the place of one that gives way. Range 3..20. */
  overlapReach: 5,
  /** Weight of the scalar advantage against similarity, at the reference spread. Range 1..4. Unit: similarity per reward. */
  scalarWeight: 3,
  /** Runs as expected that a scalar advantage starts from. Range 1..20. */
  scalarShrinkage: 5,
  /** Standard errors that the scalar's slope must stand above 0, and the evidence at 0 that it starts from. Range 0..2, 0.5..10. */
  scalarErrors: 0.3,
  scalarPrior: 2,
  /** How much evidence a regression remembers: as more comes, the first is forgotten. Range 5..50. Unit: squared predictions. */
  evidenceWindow: 15,
  /** Variance of a run's surprise. */
  surpriseVariance: 0.2,
  /** Prior of the regression of surprise on prediction. */
  gateNumerator: 0.9,
  gateDenominator: 1,
  gatePrior: 0.5,
  /** Standard errors that its slope must stand above 0 before the gate opens. Range 0..2. */
  gateErrors: 0.6,
  /** Slope, less its errors, at which the gate is fully open. Range 0.05..0.5. */
  gateFull: 0.08,
  /** Power of standing with which candidates speak for the familiarity of a request. Range 1..4. */
  familiarPower: 2.5,
  /** Local evidence that is told from none. */
  familiarFloor: 0.05,
  /** What a unit of the best candidate's height (at the reference spread) takes off familiarity: good matches need more. */
  familiarHeight: 4,
} as const;

/** Familiarity from which boosts and penalties count at all; a unit more, and they count in full. Unit: log of local evidence. */
export interface Guard {
  readonly boosts: number;
  readonly penalties: number;
}

export type OarSetting = "balanced" | "guard" | "strict";

/** From most gain to most safety on kinds of request that were never met. */
export const OAR_SETTINGS: Readonly<Record<OarSetting, Guard | undefined>> = {
  balanced: undefined,
  guard: { boosts: -2, penalties: -3 },
  strict: { boosts: -1.5, penalties: -2.4 },
};
