import { join } from "node:path";
import { createEngine, type Engine, type MemoryView, QavrError } from "@qavr/core";
import { createLog } from "@qavr/core/adapter";
import { type LocalHit, type LocalQuery, localMemories, type Metadata, type NewMemory } from "@qavr/local";
import { sqliteStore } from "@qavr/sqlite";
import { inTurn } from "./in-turn.js";
import { lessonFiles } from "./lesson-files.js";
import { FIRST_CONFIDENCE, lessonIndex } from "./lesson-index.js";
import {
  assertProject,
  type LessonQuery,
  type LessonsOptions,
  type NewLesson,
  resolveLesson,
  resolveLessonsOptions,
  resolveQuery,
} from "./lesson-options.js";
import { grown, permuted } from "./lesson-order.js";
import { hashOf, type LessonRecord, toRecord } from "./lesson-record.js";
import type { MarkdownLogCode } from "./log-codes.js";
import { MIRRORED, viewsOf } from "./mirrored-collection.js";
import { rootAt, writing } from "./own-folders.js";
import { type LessonRow, readTable, writeTable } from "./reinforcement-table.js";
import { type Section, sectionsOf } from "./sections.js";

/** A lesson with the facts about its readings. */
export interface MarkdownLesson {
  /** Stays through a new heading, a new body and another file, unless heading and body change together. */
  readonly id: string;
  /** Its file, from the root, with `/`. */
  readonly path: string;
  /** The folder of its file; "." for the root. */
  readonly project: string;
  readonly title: string;
  /** Markdown, with line feeds alone. */
  readonly body: string;
  /** Readings before this one. */
  readonly reinforcements: number;
  /** In [0, 1]: `1 − (1 − c) · 0.9^reinforcements`, where c is the lesson's own, by default 0.7. */
  readonly confidence: number;
  /** ISO date of its heading, or of the table that it was imported from. */
  readonly firstSeen: string;
  /** Unix ms of the last reading before this one; absent for the first. */
  readonly lastReferenced?: number;
}

/** A lesson that a search found. */
export interface LessonHit extends MarkdownLesson {
  /** In [0, 1]; rises with the share of the request's words in it, rare words more: 0.45 where each is there once. */
  readonly similarity: number;
}

/** Lessons that were shown, each counted once. */
export interface ReadLessons<Shown extends MarkdownLesson = MarkdownLesson> {
  readonly lessons: readonly Shown[];
  /** Reports name it: `engine.report(episode, { reward, helpful, harmful })`. Empty if no lesson was shown. */
  readonly episode: string;
}

/** The lessons as a memory searches them. It counts none: the memory counts those that its runs show, when they end. */
export interface LessonCollection {
  /** `lessons`: its name in the ledger. */
  readonly name: string;
  /** The best matches, best first. */
  search(query: LocalQuery): Promise<LocalHit[]>;
}

/**
 * Lessons in Markdown files. The files are the truth: `capture` appends to them, and nothing else writes them. Every call looks for
 * changed files first. Calls reject with the codes of the collection (`STORE_…`) in `.qavr/lessons.db`.
 */
export interface Lessons {
  /** Writes down lessons and how they did: outcomes of a search go to `engine.report(episode, …)`. */
  readonly engine: Engine;
  /** For `memory.retriever()` of `@qavr/langchain` and `qavr.collections` of `@qavr/mastra`. */
  readonly collection: LessonCollection;
  /**
   * Appends a lesson to the file of its project. It resolves when the file is durable.
   *
   * @throws INVALID_ARGUMENT also for a body that would end the lesson or hide the next one, for a file that ends inside a code block or
   * is in UTF-16, and for a project behind a symbolic link; STORE_UNWRITABLE also where another program replaces the file meanwhile
   */
  capture(lesson: NewLesson): Promise<MarkdownLesson>;
  /**
   * The best matches, in the order of `rankBy`. Each lesson returned counts as read once, durably, before it is returned.
   *
   * @throws INVALID_ARGUMENT
   */
  search(query: LessonQuery): Promise<ReadLessons<LessonHit>>;
  /** All lessons of a project, as in its file. Each counts as read once. @throws INVALID_ARGUMENT */
  read(project: string): Promise<ReadLessons>;
  /** All lessons by file and place, without counting them. */
  list(): Promise<MarkdownLesson[]>;
  /** All lessons as rows of hive's table, without counting them. */
  table(): Promise<LessonRow[]>;
  /**
   * Writes the table `lesson_reinforcement` into a SQLite file, made if missing. Rows of these headings are replaced and keep their ids, and so
   * are rows of lessons that had other headings; all other rows stay. @throws STORE_FAILED
   */
  exportTable(path: string): Promise<void>;
  /**
   * Takes counts over from such a table, by project and heading; a project may be the last folder of one here. Own readings are added,
   * except to a table that these lessons exported. A second import replaces the first.
   *
   * @returns the rows without a lesson; nothing of them is kept
   * @throws STORE_FAILED, and INVALID_STATE for a field outside its range; nothing is imported then
   */
  importTable(path: string): Promise<readonly LessonRow[]>;
  /** Closes the collection, and the engine unless it was given. */
  close(): Promise<void>;
}

/** Facts of a lesson that was never shown. */
const UNREAD: Pick<MemoryView, "shown" | "lastShown"> = { shown: 0 };

/**
 * Opens the lessons below a folder: sections `### [2026-01-31] title` of the files `90-lessons.md`. Several processes may do so at once.
 *
 * @throws INVALID_ARGUMENT; and what `localMemories()` and `sqliteStore()` throw
 * @example
 * const lessons = openLessons("vault");
 * await lessons.capture({ project: "kubelab", title: "EACCES on deploy", body: "Fix the permissions of the folder." });
 * const found = await lessons.search({ text: "deploy fails", rankBy: "hybrid" });
 */
export function openLessons(root: string, options: LessonsOptions = {}): Lessons {
  const { files: name, engine: given, logger } = resolveLessonsOptions(options);
  const folder = rootAt("openLessons()", root);
  const log = createLog<MarkdownLogCode>(logger, [
    "LESSON_CONFIDENCE_CLAMPED",
    "LESSONS_NOT_COUNTED",
    "LESSON_FILE_UNREADABLE",
  ]);
  const collection = localMemories({ path: join(folder, ".qavr/lessons.db"), name: "lessons" }).of(MIRRORED);
  const engine = given ?? createEngine({ store: sqliteStore(join(folder, ".qavr/ledger.db")), logger });
  const files = lessonFiles(folder, name);
  const index = lessonIndex(files, collection, log);
  /** Lessons are appended one after the other, so that each sees whether its file has a title already. */
  const appending = inTurn();

  /** Facts of the ledger, in the order of the ids. */
  const facts = async (ids: readonly string[]): Promise<readonly Pick<MemoryView, "shown" | "lastShown">[]> => {
    try {
      return await viewsOf(engine, { collection: collection.name }, ids);
    } catch (error) {
      log("warn", "LESSONS_NOT_COUNTED", "The counts of lessons could not be read.", { error });
      return ids.map(() => UNREAD);
    }
  };
  const withFacts = async (records: readonly LessonRecord[]): Promise<MarkdownLesson[]> => {
    const known = await facts(records.map(({ id }) => id));
    return records.map((record, i) => toLesson(record, known[i] ?? UNREAD));
  };
  /** Counts the lessons as shown, and returns them as they are shown. */
  const show = async <Shown extends MarkdownLesson>(
    lessons: readonly Shown[],
    text: string | undefined,
    similarityOf: (lesson: Shown) => number,
    keepOrder: boolean,
  ): Promise<ReadLessons<Shown>> => {
    if (lessons.length === 0) return { lessons: [], episode: "" };
    const candidates = lessons.map((lesson) => ({
      id: lesson.id,
      text: textOf(lesson),
      similarity: similarityOf(lesson),
    }));
    const request = { collection: collection.name, text, candidates, topK: lessons.length, keepOrder };
    // A project that is read is no retrieval, which may be left out to compare.
    const required = text === undefined;
    const { items, episode } = await engine.rank({ ...request, required });
    try {
      if (episode !== "") await engine.end(episode);
    } catch (error) {
      log("warn", "LESSONS_NOT_COUNTED", "The reading of lessons could not be counted.", { error });
    }
    return { lessons: items.map((item) => lessons[item.index] as Shown), episode };
  };

  const table = async (): Promise<LessonRow[]> => {
    await index.sync();
    const records = await index.lessons();
    const headings = headingsOf(records);
    return (await withFacts(records)).map((lesson, i) => ({
      lesson_id: lesson.id,
      project: lesson.project,
      heading: headings[i] as string,
      reinforcements: lesson.reinforcements,
      confidence: lesson.confidence,
      first_seen: lesson.firstSeen,
      last_referenced: lesson.lastReferenced === undefined ? null : new Date(lesson.lastReferenced).toISOString(),
    }));
  };

  return {
    engine,

    collection: {
      name: collection.name,
      async search(query) {
        await index.sync();
        return collection.search(query);
      },
    },

    async capture(lesson) {
      const today = new Date().toISOString().slice(0, 10);
      const checked = resolveLesson(lesson, { confidence: FIRST_CONFIDENCE, date: today });
      const path = checked.project === "." ? name : `${checked.project}/${name}`;
      await files.assertOwn(path);
      // A collection that is closed or out of reach is noticed before anything is appended.
      await collection.size();
      await appending(async () => {
        const before = await writing(path, () => files.read(path));
        const entry = entryOf(checked, before);
        assertOneMore(sectionsOf(before), sectionsOf(`${before}${entry}\n### [${today}] next\n`), checked, path);
        await files.append(path, entry);
      });
      await index.sync();
      const key = [path, checked.date, titleOf(checked), hashOf(checked.body.trim())].join("\n");
      const written = (await index.lessons()).findLast(
        ({ facts: { path: at, date, title, bodyHash } }) => [at, date, title, bodyHash].join("\n") === key,
      );
      if (written) return (await withFacts([written]))[0] as MarkdownLesson;
      const says = `capture(): the lesson was written to ${path}, and another program has replaced it since. Look at the file, and capture it again where it is missing.`;
      throw new QavrError("STORE_UNWRITABLE", says, { details: { path } });
    },

    async search(query) {
      const { text, limit, rankBy, alpha, project } = resolveQuery(query);
      await index.sync();
      const found = await collection.search({ text, limit, ...(project === undefined ? {} : { filter: { project } }) });
      const lessons = await withFacts(found.map(toRecord));
      const hits = lessons.map((lesson, i) => ({ ...lesson, similarity: (found[i] as LocalHit).similarity }));
      return show(permuted(hits, rankBy, alpha), text, ({ similarity }) => similarity, rankBy !== "learned");
    },

    async read(project) {
      assertProject(project);
      await index.sync();
      const records = (await index.lessons()).filter(({ facts: { project: own } }) => own === project);
      return show(await withFacts(records), undefined, () => 0, true);
    },

    async list() {
      await index.sync();
      return withFacts(await index.lessons());
    },

    table,

    async exportTable(path) {
      writeTable(path, await table());
    },

    async importTable(path) {
      const rows = readTable(path);
      await index.sync();
      const records = await index.lessons();
      const known = await facts(records.map(({ id }) => id));
      const headings = headingsOf(records);
      const placesOf = Map.groupBy(records.keys(), (place) => headings[place]);
      const unknown: LessonRow[] = [];
      const changed: NewMemory[] = [];
      for (const row of rows) {
        const places = placesOf.get(spaced(row.heading)) ?? [];
        const placeWhere = (isProject: (project: string) => boolean): number | undefined =>
          places.find((place) => isProject((records[place] as LessonRecord).facts.project));
        const place =
          placeWhere((project) => project === row.project) ??
          placeWhere((project) => project.endsWith(`/${row.project}`));
        const record = place === undefined ? undefined : records[place];
        if (place === undefined || !record) {
          unknown.push(row);
          continue;
        }
        const shown = row.lesson_id === record.id ? (known[place]?.shown ?? 0) : 0;
        const imported = {
          reinforcements: Math.max(0, row.reinforcements - shown),
          confidence: Math.max(0, 1 - (1 - row.confidence) / 0.9 ** shown),
          firstSeen: row.first_seen.slice(0, 10),
          ...(row.last_referenced === null ? {} : { lastReferenced: Date.parse(row.last_referenced) }),
        };
        const metadata = { ...record.facts, imported } as unknown as Metadata;
        changed.push({ id: record.id, text: record.text, metadata });
      }
      await collection.add(changed);
      return unknown;
    },

    async close() {
      await collection.close();
      if (!given) await engine.close();
    },
  };
}

function toLesson(
  { id, text, facts: { path, project, date, title, confidence, imported } }: LessonRecord,
  { shown, lastShown }: Pick<MemoryView, "shown" | "lastShown">,
): MarkdownLesson {
  const last = Math.max(lastShown ?? 0, imported?.lastReferenced ?? 0);
  return {
    id,
    path,
    project,
    title,
    body: text.slice(title.length + 1),
    reinforcements: (imported?.reinforcements ?? 0) + shown,
    confidence: grown(imported?.confidence ?? confidence, shown),
    firstSeen: imported?.firstSeen ?? date,
    ...(last > 0 ? { lastReferenced: last } : {}),
  };
}

/** The heading of each lesson, unique in its project. */
function headingsOf(records: readonly LessonRecord[]): string[] {
  const own = records.map(({ facts: { project, date, title } }) => `${project}\n### [${date}] ${title}`);
  // A lesson's own heading may end in #2.
  const taken = new Set(own);
  const twins = new Map<string, number>();
  return own.map((key) => {
    let nth = (twins.get(key) ?? 0) + 1;
    while (nth > 1 && taken.has(`${key} #${nth}`)) nth++;
    twins.set(key, nth);
    const unique = nth === 1 ? key : `${key} #${nth}`;
    taken.add(unique);
    return unique.slice(unique.indexOf("\n") + 1);
  });
}

function spaced(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

function textOf({ title, body }: MarkdownLesson): string {
  return `${title}\n${body}`;
}

function titleOf({ title }: Pick<NewLesson, "title">): string {
  return spaced(title);
}

/** A lesson as Markdown, with the line ends of its file and an empty line before it. */
function entryOf(
  {
    title,
    body,
    confidence,
    date,
  }: Required<Pick<Section, "title" | "body" | "date">> & { confidence?: number | undefined },
  before: string,
): string {
  const start = before === "" ? "# Lessons\n\n" : before.endsWith("\n") ? "\n" : "\n\n";
  const own = confidence === FIRST_CONFIDENCE ? "" : `confidence: ${confidence}\n\n`;
  const entry = `${start}### [${date}] ${titleOf({ title })}\n\n${own}${body.trim()}\n`;
  return before.includes("\r\n") ? entry.replace(/\r?\n/g, "\r\n") : entry;
}

/** @throws INVALID_ARGUMENT unless a file has the lessons of before, then the new one, then a section that follows it */
function assertOneMore(before: readonly Section[], after: readonly Section[], lesson: NewLesson, path: string): void {
  const added = after[before.length];
  const [kept, given] = [added?.body, lesson.body].map((body) => body?.replaceAll("\r\n", "\n").trim());
  const isWhole = after.length === before.length + 2 && added?.title === titleOf(lesson) && kept === given;
  if (isWhole) return;
  throw new QavrError(
    "INVALID_ARGUMENT",
    `capture(): the lesson would not be one section of ${path}. Close code blocks and HTML in the body and at the end of the file, and leave out headings of level 1 to 3, a first line that states a confidence, and # at the end of the title.`,
    { details: { path } },
  );
}
