import { type Learner, oar, qValue, similarity } from "@qavr/core";

export type Learners = Readonly<Record<string, Learner>>;

/** Every published learner with its default options, by the name of its function. */
export async function learnerTable(): Promise<Learners> {
  const { formatSeedState: _, parseSeedState: __, unreachableScores: ___, ...others } = await import("@qavr/learners");
  const creators: Record<string, () => Learner> = { oar, qValue, similarity, ...others };
  return Object.fromEntries(Object.entries(creators).map(([name, create]) => [name, create()]));
}
