import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import { describe, expect, it, vi } from "vitest";
import { localMemories, type Metadata, type NewMemory } from "../src/index.js";
import { collection, found, tempFile } from "./support/collections.js";

const refusal = async (work: () => unknown): Promise<string> => {
  try {
    await work();
  } catch (error) {
    if (QavrError.isInstance(error)) return `${error.code} ${error.message}`;
    throw error;
  }
  return "accepted";
};

const nested = (levels: number): Metadata => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

const LONG = "x".repeat(1_000_001);

describe("a collection", () => {
  it("keeps texts, ids, metadata and times, and returns them after it was opened again", async () => {
    const path = tempFile();
    const notes = localMemories({ path });
    const [id] = await notes.add({
      text: "Fix the \0 permissions 🦆.",
      metadata: { agent: "ops", n: [1, null] },
      createdAt: 5,
    });
    await notes.close();
    const again = collection({ path });
    const expected = { id, text: "Fix the \0 permissions 🦆.", metadata: { agent: "ops", n: [1, null] }, createdAt: 5 };
    expect(await again.get(id as string)).toEqual(expected);
    expect(await again.search({ text: "permissions" })).toEqual([{ ...expected, similarity: expect.any(Number) }]);
    expect(await again.get("unknown")).toBeUndefined();
  });

  it("is a file of its name below .qavr, unless a path is given", async () => {
    const folder = join(tempFile(), "..");
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    const claims = collection({ path: undefined, name: "claims" });
    vi.restoreAllMocks();
    expect([claims.name, claims.namespace]).toEqual(["claims", "default"]);
    expect(existsSync(join(folder, ".qavr/claims.db"))).toBe(true);
  });

  it("replaces a memory with the same id and takes the same text for the same memory", async () => {
    const notes = collection();
    await notes.add([{ id: "a", text: "clear the cache", createdAt: 1 }, "call Ann", "call Ann"]);
    await notes.add({ id: "a", text: "restart the worker" });
    expect(await notes.size()).toBe(2);
    expect(await found(notes, "cache")).toEqual([]);
    expect(await found(notes, "worker")).toEqual(["a"]);
    expect((await notes.get("a"))?.createdAt).toBe(1);
  });

  it("updates text, metadata or both, and returns nothing for an unknown id", async () => {
    const notes = collection();
    await notes.add({ id: "a", text: "clear the cache", metadata: { agent: "ops" } });
    expect(await notes.update("a", { text: "restart it" })).toMatchObject({
      text: "restart it",
      metadata: { agent: "ops" },
    });
    expect(await notes.update("a", { metadata: { agent: "dev" } })).toMatchObject({
      text: "restart it",
      metadata: { agent: "dev" },
    });
    expect([await found(notes, "cache"), await found(notes, "restart")]).toEqual([[], ["a"]]);
    expect(await notes.update("b", { text: "x" })).toBeUndefined();
  });

  it("archives memories, restores and deletes them", async () => {
    const notes = collection();
    expect([await notes.archive("a"), await notes.restore("a"), await notes.delete("a")]).toEqual([0, 0, 0]);
    await notes.add([
      { id: "a", text: "clear the cache" },
      { id: "b", text: "clear the table" },
    ]);
    expect(await notes.archive(["a", "a"])).toBe(1);
    expect([await notes.size(), await found(notes, "clear")]).toEqual([1, ["b"]]);
    expect(await notes.get("a")).toMatchObject({ text: "clear the cache", archivedAt: expect.any(Number) });
    expect((await notes.list({ archived: true })).memories.map(({ id }) => id)).toEqual(["a"]);
    await notes.update("a", { text: "empty the cache" });
    expect(await found(notes, "empty")).toEqual([]);
    expect([await notes.restore("a"), await notes.restore("a")]).toEqual([1, 0]);
    expect(await found(notes, "empty")).toEqual(["a"]);
    await notes.archive("a");
    await notes.add({ id: "a", text: "wipe the cache" });
    expect(await found(notes, "wipe")).toEqual(["a"]);
    await notes.archive("a");
    expect([await notes.delete(["a", "unknown"]), await notes.get("a")]).toEqual([1, undefined]);
    expect((await notes.list({ archived: true })).memories).toEqual([]);
  });

  it("finds memories by their metadata beside one with the deepest metadata", async () => {
    const notes = collection();
    await notes.add([
      { text: "clear the cache", metadata: { agent: "ops" } },
      { text: "call Ann", metadata: nested(1_000) },
    ]);
    expect(await notes.search({ text: "cache", filter: { agent: "ops" } })).toHaveLength(1);
  });

  it("lists pages in the order of adding, some of them by their metadata", async () => {
    const notes = collection();
    const memories = Array.from({ length: 6 }, (_, i) => ({
      id: `m${i}`,
      text: `note ${i}`,
      metadata: { even: i % 2 === 0 },
    }));
    await notes.add(memories);
    await notes.update("m1", { text: "changed" });
    const ids: string[][] = [];
    let after: string | undefined;
    do {
      const page = await notes.list({ limit: 3, ...(after === undefined ? {} : { after }) });
      ids.push(page.memories.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(ids).toEqual([
      ["m0", "m1", "m2"],
      ["m3", "m4", "m5"],
    ]);
    expect((await notes.list({ filter: { even: false } })).memories.map(({ id }) => id)).toEqual(["m1", "m3", "m5"]);
    expect(await collection().list()).toEqual({ memories: [] });
  });

  it("adds many in parts, says how far it is, and lets other work run between them", async () => {
    const notes = collection();
    const progress: string[] = [];
    let ticks = 0;
    const timer = setInterval(() => ticks++, 0);
    await notes.add(
      Array.from({ length: 600 }, (_, i) => `note number ${i}`),
      {
        onProgress: (added, total) => progress.push(`${added}/${total}`),
      },
    );
    clearInterval(timer);
    expect([progress, await notes.size()]).toEqual([["256/600", "512/600", "600/600"], 600]);
    expect(ticks).toBeGreaterThan(0);
  });

  it("writes nothing when one of many is refused", async () => {
    const notes = collection();
    expect(await refusal(() => notes.add(["good", ""]))).toMatch(
      /^INVALID_ARGUMENT .*text must be a string that is not empty/,
    );
    expect(await notes.size()).toBe(0);
  });

  it.each<[string, () => unknown, RegExp]>([
    ["a misspelt option", () => localMemories({ pth: "x" } as never), /^INVALID_ARGUMENT .*no field pth/],
    ["a name with a slash", () => localMemories({ name: "a/b" }), /^INVALID_ARGUMENT .*name must be 1 to 64/],
    [
      "a memory that is neither a text nor an object",
      () => collection().add([null] as never),
      /^INVALID_ARGUMENT .*texts/,
    ],
    [
      "a text for a search, without repeating it",
      () => collection().search("a secret" as never),
      /^INVALID_ARGUMENT .*\{ text, limit \}\. Received "a text"/,
    ],
    [
      "a text for a change, without repeating it",
      () => collection().update("x", "a secret" as never),
      /^INVALID_ARGUMENT .*an object is needed\. Received "a text"/,
    ],
    ["an id that is empty", () => collection().add({ id: "", text: "x" }), /^INVALID_ID/],
    [
      "a field that does not exist",
      () => collection().add({ text: "x", tags: [] } as NewMemory),
      /^INVALID_ARGUMENT .*tags/,
    ],
    [
      "metadata that is a list",
      () => collection().add({ text: "x", metadata: [] as never }),
      /^INVALID_ARGUMENT .*metadata must be an object/,
    ],
    [
      "metadata that JSON keeps as a text",
      () => collection().add({ text: "x", metadata: new URL("https://wiki.test/page") as never }),
      /^INVALID_ARGUMENT .*object that JSON keeps/,
    ],
    [
      "metadata that SQLite could not search, for itself and all others of its namespace",
      () => collection().add({ text: "x", metadata: nested(1_001) }),
      /^INVALID_ARGUMENT .*at most 1000 levels/,
    ],
    [
      "metadata that JSON does not keep",
      () => collection().update("x", { metadata: { toJSON: () => undefined } as never }),
      /^INVALID_ARGUMENT .*object that JSON keeps/,
    ],
    ["a text that is too long", () => collection().add(LONG), /^LIMIT_EXCEEDED .*Split it/],
    ["a task that is too long", () => collection().add({ text: "x", query: LONG }), /^LIMIT_EXCEEDED .*Split it/],
    ["a new text that is too long", () => collection().update("x", { text: LONG }), /^LIMIT_EXCEEDED .*Split it/],
    [
      "a limit of 0",
      () => collection().search({ text: "x", limit: 0 }),
      /^INVALID_ARGUMENT .*limit must be a whole number in/,
    ],
    ["a search without a text", () => collection().search({} as never), /^INVALID_ARGUMENT .*text must be a string/],
    [
      "a filter that is a function",
      () => collection().search({ text: "x", filter: (() => true) as never }),
      /^INVALID_ARGUMENT .*by equality/,
    ],
    ["a namespace that is empty", () => collection().of(""), /^INVALID_ID/],
    ["a page of another list", () => collection().list({ after: "x" }), /^INVALID_ARGUMENT .*the next of a page/],
  ])("refuses %s", async (_, call, message) => {
    expect(await refusal(call)).toMatch(message);
  });

  it("refuses calls after it was closed, and files of others", async () => {
    const notes = collection();
    await notes.close();
    expect(await refusal(() => notes.size())).toMatch(/^STORE_CLOSED .*Open it again/);
    const path = tempFile();
    new DatabaseSync(path).exec("CREATE TABLE t (x)");
    expect(await refusal(() => localMemories({ path }))).toMatch(/^STORE_FOREIGN/);
    const broken = tempFile();
    writeFileSync(broken, "no database at all ".repeat(100));
    expect(await refusal(() => localMemories({ path: broken }))).toMatch(/^STORE_CORRUPT/);
    const rotten = tempFile();
    const whole = localMemories({ path: rotten });
    await whole.add("a note");
    await whole.close();
    writeFileSync(rotten, readFileSync(rotten).fill(0xff, 4_096));
    const refused = await refusal(() => localMemories({ path: rotten }));
    expect(refused).toMatch(/^STORE_CORRUPT/);
    expect(refused).not.toContain("lacks a table");
  });

  it("says which Node it needs where SQLite has no full-text search", async () => {
    vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(() => {
      throw new Error("no such module: fts5");
    });
    expect(await refusal(() => localMemories({ path: ":memory:" }))).toMatch(
      /^STORE_UNAVAILABLE .*Node 22.16 or newer/,
    );
    vi.restoreAllMocks();
  });
});
