import { createHash } from "node:crypto";
import type { StoredMemory } from "@qavr/local";

/** Counts that came from another table, beside which those of the ledger count. */
export interface ImportedCounts {
  readonly reinforcements: number;
  /** In [0, 1]. */
  readonly confidence: number;
  /** ISO date. */
  readonly firstSeen: string;
  /** Unix ms; absent for a lesson that was never read. */
  readonly lastReferenced?: number;
}

/** Metadata of a lesson in its collection. */
export interface LessonFacts {
  /** Its file, from the root, with `/`. */
  readonly path: string;
  /** The folder of its file; "." for the root. */
  readonly project: string;
  /** Its place in the file, from 0. */
  readonly place: number;
  readonly date: string;
  readonly title: string;
  /** Empty for a lesson without a body, which has no identity beside its heading. */
  readonly bodyHash: string;
  /** Its confidence before the first reading, in [0, 1]. */
  readonly confidence: number;
  readonly imported?: ImportedCounts;
}

/** A lesson in the collection, which mirrors the files. */
export interface LessonRecord {
  readonly id: string;
  /** Title and body. */
  readonly text: string;
  readonly facts: LessonFacts;
  readonly archived: boolean;
}

/** A lesson in a file, before it is known which record it is. */
export type FoundLesson = Pick<LessonRecord, "text" | "facts">;

export function toRecord({ id, text, metadata, archivedAt }: StoredMemory): LessonRecord {
  return { id, text, facts: metadata as unknown as LessonFacts, archived: archivedAt !== undefined };
}

/** A text with line feeds alone. Editors and checkouts change line ends, which would be an edit to the ledger. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Hex, 128 bits. Line ends do not count. */
export function hashOf(text: string): string {
  return createHash("sha256").update(withLineFeeds(text)).digest("hex").slice(0, 32);
}
