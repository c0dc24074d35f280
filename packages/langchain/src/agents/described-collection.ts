import { type Described, describedSearch } from "@qavr/core/adapter";
import type { TextCollection } from "../ranking/text-collection.js";

/** Tools or skills as memories: their similarity to a request is the cosine of their words. */
export function describedCollection(name: string, things: () => readonly Described[]): TextCollection {
  const search = describedSearch();
  return { name, search: async ({ text, limit }) => search(things(), text).slice(0, limit) };
}
