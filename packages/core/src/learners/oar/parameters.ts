import type { StepNumbers } from "../implicit-step.js";

/**
 * The numbers of `oar@2`. They belong to the version. They were chosen on clinc150, hwu64 and sealtools with seeds above 100, and on a
 * fixed 70 % of the requests of bfcl-models and prompts-mawps. Variances are of a Gaussian prior, in logits² per unit request vector.
 */

/** Share of the mean request that is subtracted from a request. Range 0.5..1. */
export const centring = 0.9;
/** Prior variance of the baseline's bias. Range 0.05..1. */
export const biasVariance = 0.1;
/** Start of the bias: a little under even odds. Logits. */
export const bias = -0.3;
/** Prior variance of the baseline's vector. Range 0.5..3: more explains failures by the request and fewer by its memories. */
export const baselineVariance = 1.5;
/**
 * Speed at which it falls, and its least value: with a baseline that never settles, single runs hide what their memories did. Range
 * 0.005..0.02, unit: 1 / runs; range 0.1..0.5.
 */
export const baselineSettling = 0.01;
export const baselineFloor = 0.15;
/** Prior variance of a memory's reputation. Range 0.03..0.3: more learns faster and harms where all memories are right. */
export const reputationVariance = 0.07;
/** Share of the information by which a reputation's variance falls, and the least variance: it settles but never freezes. */
export const reputationSettling = 0.5;
export const reputationFloor = 0.05;
/** Prior variance of a memory's vector. Range 0.5..4: more learns faster and affects other kinds of request more. */
export const memoryVariance = 1.3;
/** Speed at which it falls with the memory's information. Range 0..0.8. Unit: 1 / information. */
export const settling = 0.2;
/** Its least value, so that a memory whose effect changed is learned anew. Range 0.3..0.7: with less, what once helped stays first. */
export const vectorFloor = 0.5;
/** Least curvature of the logistic likelihood in a step: bounds the step on runs predicted with certainty. Range 0.01..0.25. */
export const leastCurvature = 0.05;
/** Newton steps towards a run's dual number, and a vote's. Range 1..4. */
export const runSteps = 2;
export const voteSteps = 3;
/**
 * Share of a surprise that is divided by suspicion and not by relevance. Range 0.2..0.7. It is the same for good and bad surprises: a memory
 * that gained as much as others and lost less would be overrated beside worse ones.
 */
export const suspicion = 0.5;
/** Logits over which suspicion falls by a factor e. Range 0.2..2. */
export const suspicionScale = 0.5;
/** Share of its credit that a memory without a vote keeps in a run with votes. Range 0..1. */
export const unvotedShare = 0.5;
/** Prior of the share of voted runs: runs without votes. Range 1..100. */
export const voteWarmup = 10;
/** Weight of a logit against similarity, at the reference spread. Range 1..4. Unit: similarity per logit. */
export const weight = 2.2;
/** Largest shift upwards, at the reference spread. Unit: similarity. */
export const boostCap = 0.8;
/** Cosine of request and memory at which a boost counts in full. Range 0.3..0.7. */
export const boostCosine = 0.6;
/** Evidence at which half of a context's logit counts. Range 0..5: more is safer and starts more slowly. Unit: runs. */
export const contextEvidence = 1;
/** Prior evidence that the level of a request is 0. Range 0.1..2. Unit: well-known memories at the top of the list. */
export const levelPrior = 0.2;
/**
 * Runs of a list after which its level is subtracted in full, also where requests fail. Before, memories that failed together sink
 * together, so that others are tried. Range 60..150: with fewer, the search for a memory far down the list ends too early.
 */
export const levelRuns = 60;
/**
 * Runs, and turns of its own, after which the evidence of a memory that was not shown again counts e times less in the bonus. Range
 * 1000..2000 and 0..50: with more runs, memories that were wrong before a change are tried again too late; turns keep the penalties of
 * rare requests.
 */
export const forgetting = 1000;
export const forgettingTurns = 20;
/**
 * Expected success of a request below which other memories are tried: where all fail, a trial costs little. Range 0.15..0.3: more leaves
 * what helps where success is rare.
 */
export const freeBelow = 0.25;
/** Bonus of an untried memory at the top of the list, at the reference spread. Range 0..0.4. Unit: similarity. */
export const freshBonus = 0.2;
/** Evidence at which half of the bonus is left. Unit: runs. */
export const freshEvidence = 5;
/** Expected success of a request below which the bonus grows with the runs of the list. Range 0.5..1. */
export const needBelow = 0.6;
/**
 * Its growth, and the runs after which it ends. Range 0.2..0.5, unit: 1 / √runs; range 10..50: a collection that always offers new
 * memories would try them for ever.
 */
export const needShare = 0.3;
export const needRuns = 16;
/** Share of the bonus that is dropped when every run has votes: votes test memories faster. Range 0..1. */
export const freshVoted = 0.5;
/** Discount of a memory without evidence beside one of equal direction, at the reference spread. Range 0..2. Unit: similarity. */
export const overlap = 1;
/** Evidence at which half of that is left. Unit: runs. */
export const overlapEvidence = 10;
/** Memories beyond those shown that may take the place of a discounted one. Range 3..20. */
export const overlapReach = 5;
/** Evidence that the regression of surprises remembers: new evidence replaces the oldest. Range 5..50. Unit: squared predictions. */
export const evidenceWindow = 15;
/** Variance of a run's surprise. */
export const surpriseVariance = 0.2;
/** Prior of the regression: a slope for each part, and the evidence behind it in squared predictions. */
export const reputationSlope = 0.5;
export const reputationPrior = 0.2;
export const contextSlope = 1;
export const contextPrior = 1.5;
/** Standard errors that are subtracted from the slope of reputations. Range 0..1. */
export const reputationErrors = 0.3;
/** Slope, less its errors, from which reputations count, and the slope above it at which they count in full. */
export const reputationFrom = 0.3;
export const reputationFull = 0.4;
/** Slope from which contexts count, and the slope above it at which they count in full. Where outcomes are chance, it is 0.2 ± 0.2. */
export const contextFrom = 0.2;
export const contextFull = 0.2;

/** Prior evidence that learning gains what it expects, or loses as much where both gates are closed. Unit: squared advantages. */
export const worthPrior = 0.3;
/** Prior evidence that an advantage does not mark easy requests. Range 0.3..3. Unit: squared advantages. */
export const advantagePrior = 1;
/** Evidence that the regression of the worth of learning remembers. Range 30..200. Unit: squared predictions of runs. */
export const worthWindow = 60;
/** Least slope at which learning is worth its noise. Range 0..0.3: more costs less where outcomes are chance, and gains less where many are wrong. */
export const leastWorth = 0.1;
/** Runs before the first control. Range 100..500: before, learned and host's orders hardly differ, so that controls tell little. */
export const controlFrom = 300;
/** Largest share of control runs: it leaves a tenth of the runs to the learned order, so that its worth can be found again. */
export const mostControls = 0.9;
/**
 * Least share while the squared advantages of control runs sum to less than `controlEvidence`: with none, a few runs that went well by
 * chance ended the comparison. Range 0.03..0.1 and 0.5..2.
 */
export const leastControls = 0.05;
export const controlEvidence = 1;

/** Numbers of an implicit step. */
export const STEP: StepNumbers = { leastCurvature, suspicion, suspicionScale };
