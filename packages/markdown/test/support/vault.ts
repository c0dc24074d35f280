import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEngine, type Engine, memoryStore } from "@qavr/core";
import { closing } from "../../../core/test/support/closing.js";
import { type Lessons, type LessonsOptions, type MarkdownLesson, openLessons } from "../../src/index.js";

/** A folder with these files, by path. */
export function vault(files: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(join(tmpdir(), "qavr-markdown-"));
  for (const [path, text] of Object.entries(files)) write(root, path, text);
  return root;
}

export function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Lessons that are closed when the test has ended. */
export function lessonsIn(root: string, options: LessonsOptions = {}): Lessons {
  return closing(openLessons(root, options));
}

/** An engine on a ledger in memory, whose clock stands still. */
export function engineAt(clock: { now: number }): { readonly engine: Engine } {
  const engine = closing(createEngine({ store: memoryStore(), clock: () => clock.now }));
  return { engine };
}

/** The lesson whose title has these words. */
export async function lesson(lessons: Lessons, words: string): Promise<MarkdownLesson> {
  const found = (await lessons.list()).filter(({ title }) => title.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} lessons have the title ${words}.`);
  return found[0] as MarkdownLesson;
}

export const titles = (lessons: readonly MarkdownLesson[]): string[] => lessons.map(({ title }) => title);
