import { type Described, describedSearch } from "@qavr/core/adapter";
import type { TextCollection } from "../ranking/text-collection.js";

/** Collections of tools or skills as memories: their similarity to a request is the cosine of their words. They share their vectors. */
export function describedCollections(name: string): (things: readonly Described[]) => TextCollection {
  const search = describedSearch();
  return (things) => ({ name, search: async ({ text, limit }) => search(things, text).slice(0, limit) });
}
