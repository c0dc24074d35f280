import { QavrError } from "@qavr/core";
import { between, type FieldRule, whole } from "@qavr/core/store";
import { loadSqlite } from "@qavr/sqlite/file";
import { isText } from "./lesson-options.js";
import { isDate } from "./sections.js";

/** A lesson's counts, as a row of hive's table `lesson_reinforcement`. */
export interface LessonRow {
  readonly lesson_id: string;
  readonly project: string;
  /** `### [2026-01-31] title`; further lessons of a project with the same heading end in ` #2` and so on. */
  readonly heading: string;
  readonly reinforcements: number;
  /** In [0, 1]. */
  readonly confidence: number;
  /** ISO date. */
  readonly first_seen: string;
  /** ISO date or time; null for a lesson that was never read. */
  readonly last_referenced: string | null;
}

/** hive's own schema. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS lesson_reinforcement (
  lesson_id       TEXT    PRIMARY KEY,
  project         TEXT    NOT NULL,
  heading         TEXT    NOT NULL,
  reinforcements  INTEGER NOT NULL DEFAULT 0,
  confidence      REAL    NOT NULL DEFAULT 0.7,
  first_seen      TEXT    NOT NULL,
  last_referenced TEXT,
  UNIQUE (project, heading)
)`;

const UPSERT = `INSERT INTO lesson_reinforcement VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (project, heading) DO UPDATE SET reinforcements = excluded.reinforcements, confidence = excluded.confidence,
    first_seen = excluded.first_seen, last_referenced = excluded.last_referenced`;

/** The row of a lesson whose heading or project was another one. */
const OUTDATED = "DELETE FROM lesson_reinforcement WHERE lesson_id = ? AND (project, heading) <> (?, ?)";

const RULES: Readonly<Record<keyof LessonRow, FieldRule>> = {
  lesson_id: [isText, "a text that is not empty"],
  project: [isText, "a text that is not empty"],
  heading: [isText, "a text that is not empty"],
  reinforcements: whole(0),
  confidence: between(0, 1),
  first_seen: [(value) => isText(value) && isDate((value as string).slice(0, 10)), "an ISO date"],
  last_referenced: [
    (value) => value === null || (isText(value) && !Number.isNaN(Date.parse(value as string))),
    "an ISO time or NULL",
  ],
};

/** Writes rows into a SQLite file; rows of the same project and heading keep their id. @throws STORE_FAILED; nothing is written then */
export function writeTable(path: string, rows: readonly LessonRow[]): void {
  inDatabase(path, false, (db) => {
    db.exec(SCHEMA);
    const upsert = db.prepare(UPSERT);
    const outdated = db.prepare(OUTDATED);
    db.exec("BEGIN IMMEDIATE");
    // All of them first: another lesson may have such a heading now.
    for (const { lesson_id, project, heading } of rows) outdated.run(lesson_id, project, heading);
    for (const row of rows) {
      const { lesson_id, project, heading, reinforcements, confidence, first_seen, last_referenced } = row;
      upsert.run(lesson_id, project, heading, reinforcements, confidence, first_seen, last_referenced);
    }
    db.exec("COMMIT");
  });
}

/** @throws STORE_FAILED, INVALID_STATE for the first row with a field outside its range */
export function readTable(path: string): LessonRow[] {
  const fields = Object.keys(RULES) as (keyof LessonRow)[];
  const select = `SELECT ${fields.join(", ")} FROM lesson_reinforcement ORDER BY rowid`;
  const rows = inDatabase(path, true, (db) => db.prepare(select).all()) as unknown as LessonRow[];
  rows.forEach((row, i) => {
    const broken = fields.find((field) => !RULES[field][0](row[field]));
    if (!broken) return;
    const problem = `Row ${i + 1} of lesson_reinforcement: ${broken} must be ${RULES[broken][1]}. Nothing was imported.`;
    throw new QavrError("INVALID_STATE", problem, { details: { row: i + 1, field: broken } });
  });
  return rows;
}

type Database = InstanceType<ReturnType<typeof loadSqlite>["DatabaseSync"]>;

function inDatabase<Result>(path: string, readOnly: boolean, work: (db: Database) => Result): Result {
  const { DatabaseSync } = loadSqlite("22.16");
  let db: Database | undefined;
  try {
    db = new DatabaseSync(path, { readOnly, timeout: 5_000 });
    return work(db);
  } catch (cause) {
    throw new QavrError(
      "STORE_FAILED",
      `The table lesson_reinforcement in ${path} could not be ${readOnly ? "read" : "written"}.`,
      {
        details: { path },
        cause,
      },
    );
  } finally {
    // Takes back uncommitted rows.
    db?.close();
  }
}
