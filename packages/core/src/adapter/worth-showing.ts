import type { RankedItem, Ranking } from "../engine/types.js";

/** Evidence from which a memory counts as known. */
const KNOWN = 1;

/**
 * The memories of a ranking that are worth their place in a prompt. As soon as one of them is expected to help by `minWorth`, those that
 * are known and moved no place up leave:
 *
 *     all, if no memory has learned > 0 and utility ≥ minWorth
 *     else the first, and each with learned > 0 or evidence < 1
 *
 * A plain threshold on the learned effect would not do: the effect is relative to what is expected of such requests, so that it is negative
 * for useful memories where all are useful. Lists in the host's order stay whole.
 *
 * @param minWorth > 0, in the unit of the learner's utility; logits for the default learner
 */
export function worthShowing(
  { items, order }: Pick<Ranking, "items" | "order">,
  minWorth: number,
): readonly RankedItem[] {
  const helps = order === "learned" && items.some(({ learned, utility }) => learned > 0 && utility >= minWorth);
  return helps ? items.filter(({ learned, evidence }, place) => place === 0 || learned > 0 || evidence < KNOWN) : items;
}
