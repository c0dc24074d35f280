import { type FoundLesson, hashOf, type LessonRecord } from "./lesson-record.js";

/**
 * Rules by which a lesson in a file is a known record, the first ones first: nothing changed; a new body; a new heading; another file.
 * A rule does not hold where its key is undefined.
 */
const RULES: readonly ((lesson: FoundLesson) => string | undefined)[] = [
  ({ facts: { path, date, title, bodyHash } }) => [path, date, title, bodyHash].join("\n"),
  ({ facts: { path, date, title } }) => [path, date, title].join("\n"),
  ({ facts: { path, bodyHash } }) => (bodyHash === "" ? undefined : [path, bodyHash].join("\n")),
  ({ facts: { bodyHash } }) => bodyHash || undefined,
];

/**
 * Gives each lesson the id of the record that it was, or a new one that depends on its file and text alone, so that processes agree.
 *
 * @param known Records that no other lesson is, those preferred first.
 * @param taken Ids that no new lesson may get.
 */
export function identify(
  lessons: readonly FoundLesson[],
  known: readonly LessonRecord[],
  taken: ReadonlySet<string>,
): readonly { readonly lesson: FoundLesson; readonly id: string; readonly was: LessonRecord | undefined }[] {
  const was = new Map<FoundLesson, LessonRecord>();
  const claimed = new Set<LessonRecord>();
  for (const rule of RULES) {
    const free = new Map<string, LessonRecord[]>();
    for (const record of known) {
      const key = claimed.has(record) ? undefined : rule(record);
      if (key === undefined) continue;
      const same = free.get(key);
      if (same) same.push(record);
      else free.set(key, [record]);
    }
    for (const lesson of lessons) {
      const key = was.has(lesson) ? undefined : rule(lesson);
      const record = key === undefined ? undefined : free.get(key)?.shift();
      if (!record) continue;
      was.set(lesson, record);
      claimed.add(record);
    }
  }
  const ids = new Set(taken);
  return lessons.map((lesson) => {
    const record = was.get(lesson);
    if (record) return { lesson, id: record.id, was: record };
    const { path, date, title, bodyHash } = lesson.facts;
    let id: string;
    let twin = 1;
    do id = `lesson:${hashOf([path, date, title, bodyHash, twin++].join("\n"))}`;
    while (ids.has(id));
    ids.add(id);
    return { lesson, id, was: undefined };
  });
}
