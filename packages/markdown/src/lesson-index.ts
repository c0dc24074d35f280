import type { Log } from "@qavr/core/adapter";
import type { LocalMemories, Metadata } from "@qavr/local";
import { identify } from "./identities.js";
import type { LessonFiles } from "./lesson-files.js";
import { type FoundLesson, hashOf, type LessonRecord, toRecord, withLineFeeds } from "./lesson-record.js";
import type { MarkdownLogCode } from "./log-codes.js";
import { isGone } from "./markdown-files.js";
import { allOf, isEqual, mirroring, type Stamps } from "./mirrored-collection.js";
import { LONGEST_LESSON, sectionsOf } from "./sections.js";

/** Confidence of a lesson that states none. */
export const FIRST_CONFIDENCE = 0.7;

/** Keeps a collection in step with the files of lessons. */
export interface LessonIndex {
  /** Reads the files that have changed since the last call. Lessons that are gone are archived, so they keep their id if they return. */
  sync(): Promise<void>;
  /** All lessons, by file and place. */
  lessons(): Promise<LessonRecord[]>;
}

export function lessonIndex(files: LessonFiles, collection: LocalMemories, log: Log<MarkdownLogCode>): LessonIndex {
  const all = async (archived: boolean): Promise<LessonRecord[]> => (await allOf(collection, archived)).map(toRecord);
  /** Undefined where the file cannot be read. */
  const read = async (path: string): Promise<readonly FoundLesson[] | undefined> => {
    try {
      return lessonsIn(path, await files.read(path), log);
    } catch (error) {
      log("warn", "LESSON_FILE_UNREADABLE", `${path} could not be read; the lessons known from it stay.`, { error });
      return undefined;
    }
  };
  const reread = async (seen: Stamps | undefined): Promise<Stamps> => {
    // Records come before files: another process writes its records after its file, so a record without a lesson is truly gone.
    const active = await all(false);
    const gone = await all(true);
    const stamps = await files.stamps();
    const changed = [...stamps.keys()].filter((path) => stamps.get(path) !== seen?.get(path));
    const found = new Map<string, readonly FoundLesson[]>();
    for (const path of changed) {
      const lessons = await read(path);
      if (lessons) found.set(path, lessons);
    }
    const open = active.filter(({ facts: { path } }) => found.has(path) || isGone(path, stamps));
    const taken = new Set([...active, ...gone].map(({ id }) => id));
    const lessons = identify([...found.values()].flat(), [...open, ...gone], taken);
    const kept = new Set(lessons.map(({ id }) => id));
    await collection.add(
      lessons.flatMap(({ lesson: { text, facts }, id, was }) => {
        const imported = was?.facts.imported;
        const metadata = { ...facts, ...(imported ? { imported } : {}) } as unknown as Metadata;
        const isKnown = was && !was.archived && was.text === text && isEqual(was.facts, metadata);
        return isKnown ? [] : [{ id, text, metadata }];
      }),
    );
    await collection.archive(open.map(({ id }) => id).filter((id) => !kept.has(id)));
    return stamps;
  };

  return {
    sync: mirroring(files, collection, reread),
    async lessons() {
      return (await all(false)).sort(
        ({ facts: a }, { facts: b }) => Number(a.path > b.path) - Number(a.path < b.path) || a.place - b.place,
      );
    },
  };
}

function lessonsIn(path: string, source: string, log: Log<MarkdownLogCode>): readonly FoundLesson[] {
  return sectionsOf(source).flatMap(({ date, title, body, confidence = FIRST_CONFIDENCE }, place) => {
    if (title.length + body.length > LONGEST_LESSON) {
      const says = `A lesson of ${path} has more than ${LONGEST_LESSON} characters, so it is left out. Split it.`;
      log("warn", "LESSON_FILE_UNREADABLE", says);
      return [];
    }
    if (confidence < 0 || confidence > 1) {
      const says = `A lesson of ${path} has a confidence outside [0, 1], so the nearest end is used. Correct it there.`;
      log("warn", "LESSON_CONFIDENCE_CLAMPED", says);
    }
    return {
      text: withLineFeeds(`${title}\n${body}`),
      facts: {
        path,
        project: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".",
        place,
        date,
        title,
        bodyHash: body === "" ? "" : hashOf(body),
        confidence: Math.min(1, Math.max(0, confidence)),
      },
    };
  });
}
