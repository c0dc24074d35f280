import type { Coder } from "./bytes.js";

/**
 * How it is known that a run used a memory, the plainest first:
 * - `application`: the application said so
 * - `citation`: the answer names the memory's handle, as in `[m1]`
 * - `skill`: a tool call loaded the memory as a skill, or called the tool that it is
 * - `argument`: a tool call has a value that only this memory holds
 * - `quote`: the answer repeats a passage that only this memory holds
 */
export const USE_FINDERS = ["application", "citation", "skill", "argument", "quote"] as const;
export type UseFinder = (typeof USE_FINDERS)[number];

/** A memory that a run used, by its id (in an outcome also by its handle), and how that is known. */
export interface UsedMemory {
  readonly id: string;
  readonly by: UseFinder;
}

/** The used memories of a run; undefined while nothing is known about them. */
export type Uses = readonly UsedMemory[] | undefined;

/**
 * Two reports about one run as one. An application's list replaces an adapter's findings. Lists of one kind are joined; a memory
 * in both keeps the plainer finder.
 */
export function joinUses(known: Uses, said: Uses): Uses {
  if (!known || !said) return said ?? known;
  if (isApplications(known) !== isApplications(said)) return isApplications(known) ? known : said;
  return plainest([...known, ...said]);
}

/** Each memory once, with its plainest finder. */
export function plainest(uses: readonly UsedMemory[]): UsedMemory[] {
  const finders = new Map<string, UseFinder>();
  for (const { id, by } of uses) {
    const other = finders.get(id);
    if (other === undefined || USE_FINDERS.indexOf(by) < USE_FINDERS.indexOf(other)) finders.set(id, by);
  }
  return [...finders].map(([id, by]) => ({ id, by }));
}

/** True for a list that holds nothing found by an adapter. An empty list is an application's: adapters never report "none". */
export function isApplications(uses: readonly UsedMemory[]): boolean {
  return uses.every(({ by }) => by === "application");
}

/**
 * For each memory shown: true when the run used it, false when it did not, undefined when that is unknown. Only lists of an application
 * and answers that cite their memories are complete: a memory that they leave out was not used. A quote, an argument or a skill shows
 * the use of one memory and says nothing about the others, which may have been followed without a trace.
 */
export function useOf(uses: Uses): (id: string) => boolean | undefined {
  if (!uses) return () => undefined;
  const ids = new Set(uses.map(({ id }) => id));
  const isComplete = isApplications(uses) || uses.some(({ by }) => by === "citation");
  return (id) => ids.has(id) || (isComplete ? false : undefined);
}

/** For each memory: true when the run loaded it as a skill, or called the tool that it is. */
export function loadedIn(uses: Uses): (id: string) => boolean {
  const ids = new Set(uses?.flatMap(({ id, by }) => (by === "skill" ? [id] : [])));
  return (id) => ids.has(id);
}

/** One byte for unknown; else a list with one byte beside each id. */
export function codeUses(coder: Coder, uses: Uses): Uses {
  const [isKnown] = coder.flags(uses);
  return isKnown
    ? coder.list(uses, (item, { id, by }) => ({ id: item.text(id), by: item.oneOf(USE_FINDERS, by) }))
    : undefined;
}
