import type { Engine, Logger } from "@qavr/core";
import { between, type Defined, type FieldRule, illegalOption, oneOf, resolveOptions, whole } from "@qavr/core/store";
import { RANK_BY, type RankBy } from "./lesson-order.js";
import { isDate, LONGEST_LESSON } from "./sections.js";

/** Place and ledger of lessons. */
export interface LessonsOptions {
  /** Name of the files of lessons, in the root and all folders below it. @default "90-lessons.md" */
  readonly files?: string | undefined;
  /** The engine whose ledger counts readings, such as `qavr().engine`. @default one on `.qavr/ledger.db` in the root */
  readonly engine?: Engine | undefined;
  /** Gets a line when something is wrong with a file or the ledger. @default the first line of a kind is a process warning */
  readonly logger?: Logger | undefined;
}

/** A search for lessons. */
export interface LessonQuery {
  readonly text: string;
  /** The most lessons to return, 1 to 1,000. @default 5 */
  readonly limit?: number | undefined;
  /** The order of the lessons found. It never changes which ones they are. @default "bm25" */
  readonly rankBy?: RankBy | undefined;
  /** Share of the match in the order `hybrid`, in [0, 1]. @default 0.7 */
  readonly alpha?: number | undefined;
  /** Only lessons of this folder. @default all */
  readonly project?: string | undefined;
}

/** A lesson to write. */
export interface NewLesson {
  /** Folder of its file, from the root, with `/`; "." is the root. It is made if it is missing. */
  readonly project: string;
  /** One line. */
  readonly title: string;
  /** Markdown without headings of level 1 to 3. */
  readonly body: string;
  /** In [0, 1]. @default 0.7 */
  readonly confidence?: number | undefined;
  /** ISO date. @default today, in UTC */
  readonly date?: string | undefined;
}

export const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
export const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Without a dot or a space at the beginning, or a space at the end. */
const FOLDER_NAME = /^(?![.\s]).*\S$/;

const FOLDER: FieldRule = [
  (value) =>
    typeof value === "string" &&
    // The name of a drive has a colon.
    !/[\\:\0]/.test(value) &&
    value.isWellFormed() &&
    (value === "." || value.split("/").every((name) => FOLDER_NAME.test(name) && name !== "node_modules")),
  "a folder below the root, such as kubelab or team/kubelab; node_modules and names that begin with a dot are not searched",
];

const OPTIONS: Readonly<Record<keyof LessonsOptions, FieldRule>> = {
  files: [(value) => isText(value) && !/[\\/\0]/.test(value as string), "the name of a file, such as 90-lessons.md"],
  engine: [isObject, "an engine"],
  logger: [isObject, "a logger"],
};

const QUERY: Readonly<Record<keyof LessonQuery, FieldRule>> = {
  text: [(value) => typeof value === "string", "a string"],
  limit: whole(1, 1_000),
  rankBy: oneOf(...RANK_BY),
  alpha: between(0, 1),
  project: FOLDER,
};

const LESSON: Readonly<Record<keyof NewLesson, FieldRule>> = {
  project: FOLDER,
  title: [(value) => isText(value) && !/[\r\n]/.test(value as string), "one line of text"],
  body: [isText, "a text that is not empty"],
  confidence: between(0, 1),
  date: [(value) => typeof value === "string" && isDate(value), "an ISO date, such as 2026-01-31"],
};

/** @throws INVALID_ARGUMENT */
export function resolveLessonsOptions(
  given: LessonsOptions,
): Defined<Pick<LessonsOptions, "files">> & Pick<LessonsOptions, "engine" | "logger"> {
  return resolveOptions("openLessons()", given, { files: "90-lessons.md" }, OPTIONS);
}

/** @throws INVALID_ARGUMENT */
export function resolveQuery(given: LessonQuery): Defined<Omit<LessonQuery, "project">> & Pick<LessonQuery, "project"> {
  const defaults = { limit: 5, rankBy: "bm25" as RankBy, alpha: 0.7 };
  const { text, project, ...rest } = resolveOptions("search()", given, defaults, QUERY, ["text"]);
  return { ...rest, text, project };
}

/** @throws INVALID_ARGUMENT */
export function resolveLesson(given: NewLesson, defaults: { confidence: number; date: string }): Defined<NewLesson> {
  const checked = resolveOptions("capture()", given, defaults, LESSON, ["project", "title", "body"]);
  // As a file in UTF-8 has them: a text that was cut inside an emoji ends in half of it.
  const lesson = { ...checked, title: checked.title.toWellFormed(), body: checked.body.toWellFormed() };
  const length = lesson.title.length + lesson.body.length;
  if (length <= LONGEST_LESSON) return lesson;
  throw illegalOption(
    "body",
    `capture(): title and body must have at most ${LONGEST_LESSON} characters together`,
    length,
  );
}

/** @throws INVALID_ARGUMENT */
export function assertProject(project: string): void {
  resolveOptions("read()", { project }, {}, { project: FOLDER }, ["project"]);
}
