import { renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { engineAt, lesson, lessonsIn, vault, write } from "./support/vault.js";

const START = Date.parse("2026-03-01T12:00:00Z");
const FILES = {
  "10_projects/hive/90-lessons.md":
    "### [2026-01-04] WAL\n\nUse WAL.\n\n### [2026-01-05] twice\n\none\n\n### [2026-01-05] twice\n\ntwo\n",
};

/** A file with hive's own table. */
function hive(rows: readonly (readonly (string | number | null)[])[]): string {
  const path = join(vault(), "hive.db");
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE lesson_reinforcement (lesson_id TEXT PRIMARY KEY, project TEXT NOT NULL, heading TEXT NOT NULL,
    reinforcements INTEGER NOT NULL DEFAULT 0, confidence REAL NOT NULL DEFAULT 0.7, first_seen TEXT NOT NULL, last_referenced TEXT,
    UNIQUE (project, heading))`);
  const insert = db.prepare("INSERT INTO lesson_reinforcement VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const row of rows) insert.run(...row);
  db.close();
  return path;
}

describe("the table of lessons", () => {
  it("L10: is made from the ledger and the files, in hive's schema", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    await lessons.search({ text: "WAL" });
    const row = { lesson_id: expect.stringMatching(/^lesson:/), project: "10_projects/hive" };
    const unread = { reinforcements: 0, confidence: 0.7, first_seen: "2026-01-05", last_referenced: null };
    expect(await lessons.table()).toEqual([
      {
        ...row,
        heading: "### [2026-01-04] WAL",
        reinforcements: 1,
        confidence: expect.closeTo(0.73, 12),
        first_seen: "2026-01-04",
        last_referenced: "2026-03-01T12:00:00.000Z",
      },
      { ...row, ...unread, heading: "### [2026-01-05] twice" },
      { ...row, ...unread, heading: "### [2026-01-05] twice #2" },
    ]);
  });

  it("L10: goes into a file of hive, whose rows keep their id, and comes back as it was", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root, engineAt({ now: START }));
    await lessons.search({ text: "WAL" });
    const path = hive([
      ["theirs", "10_projects/hive", "### [2026-01-04] WAL", 9, 0.8, "2026-01-04", null],
      ["other", "other", "### [2026-01-04] WAL", 9, 0.8, "2026-01-04", null],
    ]);
    await lessons.exportTable(path);
    const db = new DatabaseSync(path, { readOnly: true });
    const rows = db.prepare("SELECT lesson_id, reinforcements FROM lesson_reinforcement ORDER BY rowid").all();
    db.close();
    const own = expect.stringMatching(/^lesson:/);
    expect(rows.map((row) => Object.values(row))).toEqual([
      ["theirs", 1],
      ["other", 9],
      [own, 0],
      [own, 0],
    ]);

    const exported = join(root, "export.db");
    await lessons.exportTable(exported);
    const table = await lessons.table();
    expect(await lessons.importTable(exported)).toEqual([]);
    expect(await lessons.table()).toEqual(
      table.map((row) => ({ ...row, confidence: expect.closeTo(row.confidence, 12) })),
    );
    const fresh = lessonsIn(vault(FILES), engineAt({ now: START }));
    await fresh.importTable(exported);
    expect(await fresh.table()).toEqual(
      table.map((row) => ({ ...row, confidence: expect.closeTo(row.confidence, 12) })),
    );
    await lessons.search({ text: "WAL" });
    await lessons.importTable(exported);
    expect(await lesson(lessons, "WAL")).toMatchObject({ reinforcements: 2 });
  });

  it("replaces the rows of lessons that have another heading or project since their last export", async () => {
    const root = vault();
    const lessons = lessonsIn(root, engineAt({ now: START }));
    const named = async (project: string, first: string, second: string): Promise<void> => {
      const text = `### [2026-01-04] ${first}\n\n1\n\n### [2026-01-04] ${second}\n\n2\n`;
      write(root, `${project}/90-lessons.md`, text);
      await lessons.list();
    };
    const path = join(root, "export.db");
    const exported = async (): Promise<unknown> => {
      await lessons.exportTable(path);
      const db = new DatabaseSync(path, { readOnly: true });
      const rows = db.prepare("SELECT * FROM lesson_reinforcement ORDER BY project, heading DESC").all();
      db.close();
      return rows.map((row) => ({ ...row }));
    };
    await named("a", "two", "one");
    expect(await exported()).toEqual(await lessons.table());
    // Each lesson takes the heading of the other one.
    await named("a", "three", "one");
    await named("a", "three", "two");
    await named("a", "one", "two");
    await lessons.search({ text: "two", limit: 1 });
    expect(await exported()).toEqual((await lessons.table()).toReversed());
    renameSync(join(root, "a"), join(root, "b"));
    expect(await exported()).toEqual((await lessons.table()).toReversed());
  });

  it("has a heading of its own for each lesson, also where a lesson is called #2", async () => {
    const text = ["a #2", "a", "a", "a"].map((title, i) => `### [2026-01-04] ${title}\n\n${i}\n`).join("\n");
    const lessons = lessonsIn(vault({ "k/90-lessons.md": text }), engineAt({ now: START }));
    const headings = (await lessons.table()).map(({ heading }) => heading.replace("### [2026-01-04] ", ""));
    expect(headings).toEqual(["a #2", "a", "a #3", "a #4"]);
  });

  it("L6: takes hive's counts over, and own readings count on top, also after an edit", async () => {
    const root = vault({ ...FILES, "my-hive/90-lessons.md": "### [2026-01-04] gone\n\nAnother project.\n" });
    const lessons = lessonsIn(root, engineAt({ now: START }));
    const path = hive([
      ["a", "hive", "### [2026-01-04]  WAL", 5, 0.822853, "2026-01-03", "2026-02-01"],
      ["b", "hive", "### [2026-01-04] gone", 1, 0.73, "2026-01-04", null],
    ]);
    for (let again = 0; again < 2; again++) {
      expect((await lessons.importTable(path)).map(({ lesson_id }) => lesson_id)).toEqual(["b"]);
    }
    expect(await lesson(lessons, "WAL")).toMatchObject({
      reinforcements: 5,
      confidence: 0.822853,
      firstSeen: "2026-01-03",
      lastReferenced: Date.parse("2026-02-01"),
    });
    await lessons.search({ text: "WAL" });
    await lessons.importTable(path);
    write(root, "10_projects/hive/90-lessons.md", "### [2026-01-04] WAL\n\nUse WAL always.\n");
    expect(await lesson(lessons, "WAL")).toMatchObject({
      reinforcements: 6,
      confidence: expect.closeTo(1 - 0.3 * 0.9 ** 6, 6),
      lastReferenced: START,
    });
  });

  it("gives a row to the project of its name before one of the same last folder", async () => {
    const text = "### [2026-01-04] WAL\n\nUse WAL.\n";
    const files = { "archive/hive/90-lessons.md": text, "hive/90-lessons.md": text };
    const lessons = lessonsIn(vault(files), engineAt({ now: START }));
    await lessons.read("hive");
    const path = join(vault(), "export.db");
    await lessons.exportTable(path);
    const fresh = lessonsIn(vault(files), engineAt({ now: START }));
    await fresh.importTable(path);
    expect(await fresh.list()).toMatchObject([
      { project: "archive/hive", reinforcements: 0 },
      { project: "hive", reinforcements: 1 },
    ]);
  });

  it("refuses a file without the table, and a row outside its range, and imports nothing", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root, engineAt({ now: START }));
    await expect(lessons.importTable(join(root, "missing.db"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    const wal = ["a", "hive", "### [2026-01-04] WAL", 5, 0.8, "2026-01-03", null];
    const path = hive([wal, ["b", "hive", "### [2026-01-05] twice", 1, 7, "2026-01-04", null]]);
    await expect(lessons.importTable(path)).rejects.toThrow(/Row 2 .* confidence must be in \[0, 1\]/);
    const undated = hive([["c", "hive", "### [2026-01-04] WAL", 5, 0.8, "January 3rd", null]]);
    await expect(lessons.importTable(undated)).rejects.toThrow(/Row 1 .* first_seen must be an ISO date/);
    expect((await lesson(lessons, "WAL")).reinforcements).toBe(0);
  });
});
