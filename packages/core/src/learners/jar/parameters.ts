/**
 * The numbers of `jar@1`. They were tuned on hwu64, clinc150 and sealtools and belong to the version: other numbers are
 * another learner. Variances are of a Gaussian prior, in logits² per unit request vector.
 */
export const JAR = {
  /** Runs that may be fitted again. Range 500..2000. */
  log: 1000,
  /** How many are, after each new run. Range 0..50. Each touches the states of the memories it showed. */
  revisits: 20,
  /** Prior variance of the baseline's bias. Range 0.1..1. */
  biasVariance: 0.5,
  /** Where the bias starts: a little under even odds. Logits. */
  bias: -0.3,
  /** Prior variance of the baseline's vector. Range 0.1..1. */
  baselineVariance: 1,
  /** Prior variance of a memory's vector. Range 0.1..1. */
  memoryVariance: 1,
  /** Least curvature of the logistic likelihood that a step assumes: bounds the step on runs that seem certain. Range 0.01..0.25. */
  leastCurvature: 0.05,
  /** Weight of a logit against similarity, at the reference spread. Range 1..4. Unit: similarity per logit. */
  weight: 2.2,
  /** Largest shift downwards, at the reference spread. Unit: similarity. */
  penaltyCap: 1,
  /** Largest shift upwards, at the reference spread. Unit: similarity. */
  boostCap: 0.5,
  /** Cosine of request and memory at which a boost counts in full: it must come from like requests. Range 0.2..0.6. */
  boostCosine: 0.4,
  /** The scalar advantage's weight (at the reference spread) and shrinkage, where request and memory share no vector space. */
  scalarWeight: 1.5,
  scalarShrinkage: 5,
  /** Prior of the regression of surprise on prediction … */
  gateNumerator: 1.2,
  gateDenominator: 1,
  gatePrior: 0.5,
  /** … weight that one more run leaves to the ones before it. Range 0.99..0.9999. */
  gateDecay: 0.9995,
  /** Standard errors that the slope must stand above 0 before the gate opens. Range 0..2. */
  gateErrors: 0.8,
  /** Variance of a run's surprise. */
  gateVariance: 0.2,
  /** Slope, less its errors, at which the gate is fully open. Range 0.05..0.5. */
  gateFull: 0.12,
  /** Power of relevance in the bonus of memories that were tried little: only the top of the list gets it. Range 2..8. */
  freshPower: 4,
} as const;

/** How far an unfamiliar request and an untried memory are protected. */
export interface JarSettingNumbers {
  /** Bonus of an untried memory at the top of the list, at the reference spread. Unit: similarity. */
  readonly freshBonus: number;
  /** Evidence at which half of the bonus is left. Unit: runs. */
  readonly freshEvidence: number;
  /** When given, learning moves only requests like those it has met: `clamp((cos − slope · top − from) / width, 0, 1)`. */
  readonly familiarity?: { readonly slope: number; readonly from: number; readonly width: number };
}

export type JarSetting = "balanced" | "guard" | "strict";

/**
 * From most gain to most safety on kinds of request that were never met: `balanced`, `guard`, `strict`.
 */
export const JAR_SETTINGS: Readonly<Record<JarSetting, JarSettingNumbers>> = {
  balanced: { freshBonus: 0.6, freshEvidence: 5 },
  guard: { freshBonus: 0.6, freshEvidence: 5, familiarity: { slope: 0.5, from: 0.1, width: 0.1 } },
  strict: { freshBonus: 1, freshEvidence: 12, familiarity: { slope: 0.6, from: 0.1, width: 0.15 } },
};
