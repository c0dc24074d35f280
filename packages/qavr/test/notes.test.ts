import { existsSync, rmSync } from "node:fs";
import { localMemories } from "@qavr/local";
import { sqliteStore } from "@qavr/sqlite";
import { describe, expect, it } from "vitest";
import { appEngine, ledgerFile, newPath, oneRun } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";
import { PRINTED } from "./support/schema.js";

/** A ledger in which eight votes call the memory `wrong` harmful. Returns its path. */
async function misled(collection: string, namespace = "default"): Promise<string> {
  const store = newPath();
  const engine = appEngine(sqliteStore(store));
  for (let run = 0; run < 8; run++) {
    const candidates = [{ id: "wrong", similarity: 0.9 }];
    await oneRun(engine, { namespace, collection, candidates, topK: 1 }, { reward: false, harmful: ["wrong"] });
  }
  await engine.close();
  return store;
}

describe("qavr notes", () => {
  it("finds a note by its words, in the file that @qavr/local uses", async () => {
    const file = newPath("notes.db");
    const { id } = (await dataOf("notes", "add", "Clear the cache before a deploy.", "--file", file)) as { id: string };
    expect(await dataOf("notes", "search", "deploy", "--file", file)).toMatchObject({ notes: [{ id }] });
    expect((await qavr("notes", "search", "payroll", "--file", file)).stdout).toContain("No note has");
  });

  it("needs a text, and says that it has none", async () => {
    const file = newPath("notes.db");
    const { exitCode, stderr } = await qavr("notes", "add", "  ", "--file", file);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: "error: The note is empty. Give its text in quotes.\n",
    });
    expect(existsSync(file)).toBe(false);
  });

  it("is read only from a file that exists", async () => {
    const file = newPath("none.db");
    for (const args of [
      ["search", "deploy"],
      ["prune", "--dry-run", "-s", await ledgerFile({ runs: 1 })],
    ]) {
      const { exitCode, stderr } = await qavr("notes", ...args, "--file", file);
      expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining(`no file ${file}`) });
    }
    expect(existsSync(file)).toBe(false);
  });

  it("are in a file: a postgres:// URL is refused, and makes no folder", async () => {
    const { exitCode, stderr } = await qavr(
      "notes",
      "add",
      "Fix the permissions.",
      "--file",
      "postgres://localhost/app",
    );
    const made = existsSync("postgres:");
    rmSync("postgres:", { recursive: true, force: true });
    expect({ exitCode, stderr, made }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("Name the path of a file. Received a postgres:// URL."),
      made: false,
    });
  });
});

describe("qavr notes prune", () => {
  it("archives notes that votes call misleading, with --yes alone", async () => {
    const [file, store] = [newPath("notes.db"), await misled("memories")];
    await dataOf("notes", "add", "Run the deploy as root.", "--id", "wrong", "--file", file);
    const prune = (...args: string[]): Promise<unknown> =>
      dataOf("notes", "prune", "-s", store, "--file", file, ...args);
    const found = { archived: [{ id: "wrong", score: -8 }] };
    expect(await prune("--dry-run")).toMatchObject({ ...found, dryRun: true });
    expect(await dataOf("notes", "search", "deploy", "--file", file)).toMatchObject({ notes: [{ id: "wrong" }] });
    const report = JSON.parse((await qavr("notes", "prune", "-s", store, "--file", file, "--yes", "--json")).stdout);
    expect(PRINTED.safeParse(report).error?.message).toBeUndefined();
    expect(report.data).toMatchObject(found);
    expect(await dataOf("notes", "search", "deploy", "--file", file)).toEqual({ notes: [] });
    expect((await qavr("notes", "prune", "-s", store, "--file", file)).exitCode).toBe(2);
  });

  it("looks for the votes under the collection that is named, and names those that the ledger has", async () => {
    const [file, store] = [newPath("claims.db"), await misled("claims")];
    await dataOf("notes", "add", "Run the deploy as root.", "--id", "wrong", "--file", file);
    const prune = ["notes", "prune", "-s", store, "--file", file, "--dry-run"];
    const { stdout } = await qavr(...prune);
    expect(stdout).toContain("0 notes of 1 would be archived.");
    expect(stdout).toContain(
      "Namespace default has no collection memories. It has: claims. Name one with --collection.",
    );
    expect(await dataOf(...prune, "--collection", "claims")).toMatchObject({ archived: [{ id: "wrong" }] });
    expect((await qavr(...prune, "--collection", "claims")).stdout).not.toContain("--collection");
  });

  it("archives notes of the namespace's own part, and never those of another", async () => {
    const [file, store] = [newPath("notes.db"), await misled("memories", "acme")];
    const notes = localMemories({ path: file });
    const acme = notes.of("acme");
    for (const part of [notes, acme]) await part.add({ id: "wrong", text: "Run the deploy as root." });
    const prune = ["notes", "prune", "-s", store, "--file", file, "-n", "acme", "--yes"];
    expect(await dataOf(...prune)).toMatchObject({ memories: 1, archived: [{ id: "wrong" }] });
    expect([await notes.size(), await acme.size()]).toEqual([1, 0]);
    // With nothing left in its part, the default one is still another's.
    expect(await dataOf(...prune)).toMatchObject({ memories: 0, archived: [] });
    expect(await notes.size()).toBe(1);
    await notes.close();
  });

  it("archives notes of the default part where agents of all namespaces share it", async () => {
    const [file, store] = [newPath("notes.db"), await misled("memories", "acme")];
    await dataOf("notes", "add", "Run the deploy as root.", "--id", "wrong", "--file", file);
    const prune = ["notes", "prune", "-s", store, "--file", file, "-n", "acme", "--yes"];
    expect(await dataOf(...prune)).toMatchObject({ archived: [{ id: "wrong" }] });
  });
});
