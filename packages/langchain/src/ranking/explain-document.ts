import type { RankedItem } from "@qavr/core";
import type { ShownDocument } from "./shown-documents.js";

/** Why a returned document stands where it does. `similarity + learned = score`. */
export interface DocumentExplanation extends Omit<RankedItem, "index"> {
  readonly namespace: string;
  readonly episode: string;
  /** The place it would have without learning, 1 is first. */
  readonly hostRank: number;
}

/** The explanation that travels with a shown document. */
export function explainDocument({ namespace, episode, item }: ShownDocument): DocumentExplanation {
  const { index, ...terms } = item;
  return { ...terms, namespace, episode, hostRank: index + 1 };
}
