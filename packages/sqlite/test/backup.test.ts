import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createEngine } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { restoreBackup, sqliteStore } from "../src/index.js";
import { runChild } from "./support/child.js";
import { counting, tally } from "./support/counting.js";
import { learnedLedger } from "./support/learned-ledger.js";
import { SHARES_FILES } from "./support/sharing.js";
import { tempFolder, tempLedger } from "./support/temp-folder.js";

describe("a backup", () => {
  it("holds what was acknowledged before it began, is verified, and restores to a new path", async () => {
    const [path, copy, restored] = [tempLedger(), join(tempFolder(), "deep", "backup.db"), tempLedger()];
    await learnedLedger(path, 30);
    const store = sqliteStore(path);
    const check = await store.verify();
    const report = await store.backup(copy);
    expect(report).toEqual({ ...check, path: copy });
    await store.commit("default", [tally("later")], counting);
    expect(await restoreBackup(copy, restored)).toEqual({ ...check, path: restored });
    const engine = createEngine({ store: sqliteStore(restored) });
    expect(await engine.verify()).toMatchObject({ ok: true, digest: check.digest });
    await Promise.all([store.close(), engine.close()]);
    expect(readdirSync(dirname(copy))).toEqual(["backup.db"]);
  });

  it("of a ledger in memory is a ledger on the disk", async () => {
    const [store, copy] = [sqliteStore(":memory:"), tempLedger()];
    await store.commit("n", [tally("a")], counting);
    expect(await store.backup(copy)).toMatchObject({ entries: 1 });
    await store.close();
    const opened = sqliteStore(copy);
    expect(await opened.head("n")).toBe(1);
    await opened.close();
  });

  it("overwrites nothing, and leaves nothing half done", async () => {
    const [path, taken] = [tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    writeFileSync(taken, "mine");
    await expect(store.backup(taken)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    expect(readFileSync(taken, "utf8")).toBe("mine");
    const blocked = join(tempFolder(), "blocked.db");
    mkdirSync(`${blocked}.unfinished`);
    writeFileSync(join(`${blocked}.unfinished`, "x"), "");
    await expect(store.backup(blocked)).rejects.toMatchObject({ code: expect.stringMatching(/^STORE_/) });
    expect(existsSync(blocked)).toBe(false);
    // What an interrupted backup has left is cleared away by the next one.
    const again = tempLedger();
    writeFileSync(`${again}.unfinished`, "half");
    await store.backup(again);
    expect(existsSync(`${again}.unfinished`)).toBe(false);
    await store.close();
    await expect(store.backup(tempLedger())).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("that is damaged is refused, and nothing is made of it", async () => {
    const [path, copy, restored] = [tempLedger(), tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    const payload = new TextEncoder().encode("a payload that can be found in the file");
    await store.commit("n", [{ ...tally("a"), payload }], counting);
    await store.backup(copy);
    await store.close();
    const bytes = readFileSync(copy);
    const at = bytes.indexOf(Buffer.from(payload));
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(copy, bytes);
    await expect(restoreBackup(copy, restored)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { damaged: 1 },
    });
    expect(existsSync(restored)).toBe(false);
    await expect(restoreBackup(join(tempFolder(), "none.db"), restored)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  it.runIf(SHARES_FILES)("is one moment of the ledger while two other processes write to it", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    await store.commit("n", [tally("first")], counting);
    const writers = ["a", "b"].map((prefix) => runChild("count.mjs", [path, prefix, "150"]));
    let finished = false;
    const all = Promise.all(writers).finally(() => {
      finished = true;
    });
    const heads: number[] = [];
    while (!finished) {
      const copy = tempLedger();
      const before = await store.head("n");
      const { entries } = await store.backup(copy);
      expect(entries).toBeGreaterThanOrEqual(before);
      heads.push(entries);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await all).toMatchObject([
      { code: 0, stderr: "" },
      { code: 0, stderr: "" },
    ]);
    expect(new Set(heads).size).toBeGreaterThan(2);
    expect(await store.head("n")).toBe(301);
    await store.close();
  });
});
