import { hashedTexts } from "../embedding/hashed-texts.js";
import { dot } from "../scoring/vectors.js";

/** Something that a model chooses by its description: a tool, a skill. */
export interface Described {
  readonly name: string;
  readonly description: string;
}

/** A described thing as a candidate. */
export interface DescribedHit {
  /** The name. */
  readonly id: string;
  /** `name: description`. A run that calls a tool or skill of this name used it. */
  readonly text: string;
  /** The cosine of its words and those of the request. */
  readonly similarity: number;
  /** Of a hit that an application's own search found. @default no group */
  readonly group?: string | undefined;
}

/** Searches lists of described things, and keeps the vectors of their texts. Best first; equal ones keep the order of the list. */
export function describedSearch(): (things: readonly Described[], request: string) => DescribedHit[] {
  const hashed = hashedTexts();
  return (things, request) => {
    const asked = hashed(request);
    return things
      .map(({ name, description }) => {
        const text = `${name}: ${description}`;
        const vector = hashed(text);
        return { id: name, text, similarity: vector && asked ? dot(vector, asked) : 0 };
      })
      .sort((a, b) => b.similarity - a.similarity);
  };
}

/** Characters of a listing of skills. */
export const SKILL_CHARACTERS = 15_000;

/** Characters of a skill in a listing. */
export function sizeOfSkill({ name, description, path }: Described & { readonly path: string }): number {
  return name.length + description.length + path.length;
}

/** Number of entries of mean size that fit into a budget: at least 1, at most all. */
export function placesWithin(sizes: readonly number[], budget: number): number {
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return Math.max(1, Math.min(sizes.length, Math.floor(budget / mean)));
}

/** The entries that fit into a budget, in their order; shorter ones may fit behind a long one that does not. */
export function withinBudget<Entry>(
  entries: readonly Entry[],
  budget: number,
  sizeOf: (entry: Entry) => number,
): Entry[] {
  let left = budget;
  return entries.filter((entry) => {
    const size = sizeOf(entry);
    if (size > left) return false;
    left -= size;
    return true;
  });
}
