import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogFields, Logger } from "@qavr/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { proceduresIn } from "./support/procedures.js";
import { lessonsIn, titles, vault, write } from "./support/vault.js";

const NOBODY = 65_534;
const FILES = {
  "docs/90-lessons.md": "### [2026-01-04] WAL\n\nUse WAL for concurrent readers.\n",
  "90-lessons.md": "### [2026-01-05] Root\n\nDo not run as root.\n",
};

/** Root reads every folder, so the rest of the test runs as another user, who owns the folder. */
function asUser(root: string): void {
  if (process.geteuid?.() !== 0) return;
  for (const path of ["", ...(readdirSync(root, { recursive: true }) as string[])]) {
    chownSync(join(root, path), NOBODY, NOBODY);
  }
  process.seteuid?.(NOBODY);
  onTestFinished(() => process.seteuid?.(0));
}

/** Of each warning the code, and the message up to "could not". */
function recorded(): { readonly logger: Partial<Logger>; readonly warnings: string[] } {
  const warnings: string[] = [];
  const warn = (message: string, { code }: LogFields): void =>
    void warnings.push(`${code}: ${message.split(" could")[0]}`);
  return { logger: { warn }, warnings };
}

// Windows has no such permissions. 000: the folder cannot be listed. 400: it is listed, and nothing in it can be opened.
describe.skipIf(process.platform === "win32").each(["000", "400"])("a folder with mode %s", (mode) => {
  it("keeps its lessons, and is logged once", async () => {
    const root = vault(FILES);
    asUser(root);
    const before = await lessonsIn(root).list();
    chmodSync(join(root, "docs"), mode);
    const { logger, warnings } = recorded();
    const lessons = lessonsIn(root, { logger });
    expect(await lessons.list()).toEqual(before);
    expect(titles((await lessons.search({ text: "WAL" })).lessons)).toEqual(["WAL"]);
    expect(warnings).toEqual([`LESSON_FILE_UNREADABLE: ${mode === "000" ? "docs/" : "docs/90-lessons.md"}`]);
    chmodSync(join(root, "docs"), 0o700);
    write(root, "docs/90-lessons.md", "");
    expect(titles(await lessons.list())).toEqual(["Root"]);
  });

  it("keeps its procedures, and is logged once", async () => {
    const root = vault({ "procedures/team/deploy.md": "Clear the cache.\n" });
    asUser(root);
    const before = await proceduresIn(root).list();
    chmodSync(join(root, "procedures/team"), mode);
    const { logger, warnings } = recorded();
    const procedures = proceduresIn(root, { logger });
    expect(await procedures.list()).toEqual(before);
    expect(await procedures.list()).toHaveLength(1);
    expect(warnings).toEqual([
      `PROCEDURE_FILE_UNREADABLE: ${mode === "000" ? "procedures/team/" : "procedures/team/deploy.md"}`,
    ]);
    chmodSync(join(root, "procedures/team"), 0o700);
    rmSync(join(root, "procedures/team/deploy.md"));
    expect(await procedures.list()).toEqual([]);
  });
});

describe("a lesson of a million characters", () => {
  const LONG = "word ".repeat(200_000);

  it("is left out and logged, and stops no other", async () => {
    const root = vault({
      ...FILES,
      "docs/90-lessons.md": `### [2026-01-01] Log\n\n${LONG}\n\n${FILES["docs/90-lessons.md"]}`,
    });
    const warn = vi.fn();
    const lessons = lessonsIn(root, { logger: { warn } });
    expect(titles(await lessons.list())).toEqual(["Root", "WAL"]);
    expect(titles((await lessons.search({ text: "WAL" })).lessons)).toEqual(["WAL"]);
    expect(warn.mock.calls.map(([, { code }]) => code)).toEqual(["LESSON_FILE_UNREADABLE"]);
  });

  it("is refused before anything is written", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root);
    const captured = lessons.capture({ project: ".", title: "Log", body: LONG });
    await expect(captured).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(readFileSync(join(root, "90-lessons.md"), "utf8")).toBe(FILES["90-lessons.md"]);
    expect(await lessons.list()).toHaveLength(2);
  });
});

it("a folder in place of the file of lessons is named", async () => {
  const root = vault({ "team/90-lessons.md/note.txt": "" });
  await expect(lessonsIn(root).capture({ project: "team", title: "Cache", body: "Clear it." })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: "team/90-lessons.md is no plain file. Put a plain file in its place.",
  });
});

describe("a file in UTF-16", () => {
  it.each(["utf16le", "utf16be"])("is logged as unreadable, and gets no lesson in UTF-8 (%s)", async (encoding) => {
    const root = vault({ "90-lessons.md": FILES["90-lessons.md"] });
    const { logger, warnings } = recorded();
    const lessons = lessonsIn(root, { logger });
    expect(titles(await lessons.list())).toEqual(["Root"]);
    const bytes = Buffer.from(`\uFEFF${FILES["docs/90-lessons.md"]}`, "utf16le");
    if (encoding === "utf16be") bytes.swap16();
    writeFileSync(join(root, "90-lessons.md"), bytes);
    expect(titles(await lessons.list())).toEqual(["Root"]);
    expect(warnings).toEqual(["LESSON_FILE_UNREADABLE: 90-lessons.md"]);
    const captured = lessons.capture({ project: ".", title: "Cache", body: "Clear it." });
    await expect(captured).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "90-lessons.md is in UTF-16. Save it as UTF-8.",
      details: { path: "90-lessons.md" },
    });
    expect(readFileSync(join(root, "90-lessons.md")).equals(bytes)).toBe(true);
  });
});
