import type { Learner } from "@qavr/core";
import { cav, jar, oar } from "@qavr/core/learners";

/** A learner whose cost is measured, under the name of its row in the learning benchmark. */
export interface Subject {
  readonly name: string;
  /** Old runs that it fits again after each new one. */
  readonly revisits: number;
  learner(): Learner;
}

/** A learner's states are its own business: the engine sees all learners alike. */
const subject = (name: string, revisits: number, learner: () => unknown): Subject => ({
  name,
  revisits,
  learner: learner as () => Learner,
});

/** What all costs are ratios to, with request vectors of {@link REFERENCE_DIMS}: the engine's default. */
export const REFERENCE = "oar";
export const REFERENCE_DIMS = 256;

export const SUBJECTS: readonly Subject[] = [
  subject("cav", 0, cav),
  subject(REFERENCE, 0, oar),
  subject("oar-guard", 0, () => oar({ setting: "guard" })),
  subject("jar-0", 0, () => jar({ revisits: 0 })),
  subject("jar-5", 5, () => jar({ revisits: 5 })),
  subject("jar-8", 8, () => jar({ revisits: 8 })),
  subject("jar", 20, jar),
];

/** Lengths of the request vectors; neither is projected. */
export const DIMS: readonly number[] = [REFERENCE_DIMS, 128];
