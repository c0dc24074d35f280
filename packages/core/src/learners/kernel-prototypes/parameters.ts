import { type FieldRule, NOT_NEGATIVE, UNIT, whole } from "../legality.js";

/** Settings of the `kernelPrototypes` learner. */
export interface KernelPrototypesOptions {
  /** Most prototypes of a memory. Whole number in [1, 64]. Each takes 1 KiB at 256 dims. @default 8 */
  readonly prototypes?: number;
  /** Cosine from which a request joins its nearest prototype, in [0, 1]. @default 0.6 */
  readonly mergeFrom?: number;
  /** Weight of a utility against similarity, at a spread of 0.1. At least 0. @default 1.5 */
  readonly weight?: number;
}

export const KERNEL_PROTOTYPES_DEFAULTS: Required<KernelPrototypesOptions> = {
  prototypes: 8,
  mergeFrom: 0.6,
  weight: 1.5,
};

/** Exponent of the kernel: how fast a prototype's word fades with the angle. Range 1..6. */
export const KERNEL_POWER = 3;
/** Outcomes nearby at which they count as much as the memory's own mean. Range 0.5..5. */
export const LOCAL_SHRINKAGE = 1;
/** Outcomes at which half of that mean is believed. Range 1..20. */
export const GLOBAL_SHRINKAGE = 4;

/** A memory with more is a data set. */
const MOST_PROTOTYPES = 64;

export const KERNEL_PROTOTYPES_RULES: Readonly<Record<keyof KernelPrototypesOptions, FieldRule>> = {
  prototypes: whole(1, MOST_PROTOTYPES),
  mergeFrom: UNIT,
  weight: NOT_NEGATIVE,
};
