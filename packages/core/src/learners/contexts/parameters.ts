import { type FieldRule, NOT_NEGATIVE, RATE, UNIT, whole } from "../legality.js";

/** Settings of the `contexts` learner. */
export interface ContextsOptions {
  /** Most contexts of a collection. Whole number in [1, 250]. Each takes 1 KiB at 256 dims, written with every outcome. @default 192 */
  readonly contexts?: number;
  /** Cosine to the nearest context below which a request founds its own, in [0, 1]. @default 0.5 */
  readonly joinFrom?: number;
  /** Weight of a memory's log-odds against similarity, at a spread of 0.1. At least 0. @default 1 */
  readonly weight?: number;
  /** Step of all log-odds, in (0, 1]. @default 0.5 */
  readonly rate?: number;
}

export const CONTEXTS_DEFAULTS: Required<ContextsOptions> = { contexts: 192, joinFrom: 0.5, weight: 1, rate: 0.5 };

/** Contexts that a request belongs to at most. Range 1..8. */
export const MEMBERSHIPS = 3;
/** Exponent of a membership: how fast it fades with the angle. Range 1..8. */
export const MEMBERSHIP_POWER = 4;
/** A context's centre is averaged over at most so many requests. Range 50..1000. */
export const CENTRE_WINDOW = 200;
/** How much a memory's log-odds whatever the context count and learn. Range 0..1. */
export const GLOBAL_SHARE = 0.3;
/** Step of the bias, as a share of the others'. Range 0.01..1. */
export const BIAS_SHARE = 0.1;
/** Strength of the prior 0 on a memory's log-odds, in outcomes. Range 0..2. */
export const MEMORY_PRIOR = 0.3;
/** The same for a context's own log-odds. Range 0..1. */
export const CONTEXT_PRIOR = 0.02;

/** More would not fit into one state of a store. */
const MOST_CONTEXTS = 250;

export const CONTEXTS_RULES: Readonly<Record<keyof ContextsOptions, FieldRule>> = {
  contexts: whole(1, MOST_CONTEXTS),
  joinFrom: UNIT,
  weight: NOT_NEGATIVE,
  rate: RATE,
};
