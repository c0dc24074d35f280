import { type Learner, oar, qValue, similarity } from "@qavr/core";
import { beta, contexts, globalAdvantage, kernelPrototypes, oar1, successRate } from "@qavr/learners";

/** The learners of the tables, by the names of the simulated benchmark. */
export const REAL_ROWS: Readonly<Record<string, () => unknown>> = {
  similarity,
  qavr: () => qValue({ rewards: { failed: 0 } }),
  "success-rate": successRate,
  "beta-mean": beta,
  "global-advantage": globalAdvantage,
  "kernel-prototypes": kernelPrototypes,
  contexts,
  oar1,
  oar,
};

/** A fresh learner of a row. The engine sees the states of all learners alike. */
export function learnerOf(row: string): Learner {
  const create = REAL_ROWS[row];
  if (!create) throw new Error(`There is no row ${row}. Rows: ${Object.keys(REAL_ROWS).join(", ")}.`);
  return create() as Learner;
}
