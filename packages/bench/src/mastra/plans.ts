import type { LearningPlan } from "./learning.js";

/** A comparison, by its name on the page. */
export interface Comparison {
  readonly name: string;
  readonly plan: LearningPlan;
}

const seedsTo = (last: number): number[] => Array.from({ length: last }, (_, place) => place + 1);

/** @param full otherwise one desk and a few runs */
export function comparisons(full: boolean): readonly Comparison[] {
  const main: LearningPlan = { seeds: seedsTo(5), runs: 300, block: 100, control: undefined, treated: {} };
  if (!full) return [{ name: "Memory → QavrMemory", plan: { ...main, seeds: [1], runs: 40, block: 20 } }];
  const guard = { seeds: seedsTo(8), runs: 120, block: 120 };
  const recency = { semanticRecall: { recency: { halfLife: 30 * 86_400_000 } } };
  return [
    { name: "Memory → QavrMemory", plan: main },
    {
      name: "recency off (the default) → half-life of 30 days, wrong notes a year old",
      plan: { ...guard, outdated: "wrong", control: {}, treated: recency },
    },
    {
      name: "recency off (the default) → half-life of 30 days, right notes a year old",
      plan: { ...guard, outdated: "right", control: {}, treated: recency },
    },
    {
      name: "failed turns remembered → left out (the default)",
      plan: { ...guard, control: { semanticRecall: { rememberTurns: "all" } }, treated: {} },
    },
    {
      name: "echoes kept (the default) → dropped, messageRange 0, tickets from a form",
      plan: {
        ...guard,
        wording: "form",
        messageRange: 0,
        control: {},
        treated: { semanticRecall: { echoes: "drop" } },
      },
    },
  ];
}
