/**
 * The numbers of `cav@1`. They were tuned on hwu64 and clinc150 (never on banking77) and belong to the version: other numbers
 * are another learner. Those of the running spread, the baseline and the mean request stand in running-spread.ts, request-baseline.ts and request-model.ts.
 */
export const CAV = {
  /** Weight of an expected advantage against similarity, at the reference spread. Range 5..30. Unit: similarity per utility. */
  weight: 20,
  /** The same for the scalar advantage, used where request and memory share no vector space. Range 0.5..3. */
  scalarWeight: 1.5,
  /** Evidence at which half of an advantage is believed. Range 5..60. Unit: runs. */
  shrinkage: 32,
  /** The same for the scalar advantage. Range 1..20. */
  scalarShrinkage: 5,
  /** Largest shift that learning may cause, at the reference spread. Range 0.1..1. Unit: similarity. */
  cap: 1,
  /** Influence that learning keeps while its predictions have not come true. Range 0..1. */
  gateFloor: 0.25,
  /** Slope of surprise on prediction at which the gate is fully open. Range 0.1..1. */
  gateFull: 0.35,
  /** Prior of that regression: starts with slope 2 / 5.5, so that the gate is open until the evidence speaks. */
  gateNumerator: 2,
  gateDenominator: 5,
  gatePrior: 0.5,
  /** Weight that one more run leaves to the ones before it. Range 0.99..0.9999. */
  gateDecay: 0.998,
  /** Bounds of the predicted success of a run. */
  lowestPrediction: 0.02,
  highestPrediction: 0.98,
  /** What a vote adds to, and how much of the run's surprise a memory without a vote keeps in a run with votes. */
  voteStep: 0.5,
  unvotedShare: 0.5,
} as const;
