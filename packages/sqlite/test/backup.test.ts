import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEngine } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { counting, tally } from "../../core/test/support/counting.js";
import { copyLedger } from "../src/backup.js";
import { restoreBackup, sqliteStore } from "../src/index.js";
import { runChild } from "./support/child.js";
import { interceptSqlite } from "./support/fault-injection.js";
import { learnedLedger } from "./support/learned-ledger.js";
import { refusalOf } from "./support/refusal.js";
import { SHARES_FILES } from "./support/sharing.js";
import { tamper } from "./support/tamper.js";
import { newLedger, openStore, tempFolder, tempLedger } from "./support/temp-folder.js";

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
    expect(await verify(engine)).toMatchObject({ ok: true, digest: check.digest });
    await Promise.all([store.close(), engine.close()]);
    expect(readdirSync(dirname(copy))).toEqual(["backup.db"]);
  });

  it.skipIf(process.platform === "win32")("is readable for those alone who may read its source", async () => {
    const [path, copy, restored] = [tempLedger(), tempLedger(), tempLedger()];
    await learnedLedger(path, 3);
    chmodSync(path, 0o600);
    const store = sqliteStore(path);
    await store.backup(copy);
    await store.close();
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    // A backup may be kept for reading only; what is made of it is written to.
    chmodSync(copy, 0o400);
    await restoreBackup(copy, restored);
    expect(statSync(restored).mode & 0o777).toBe(0o600);
  });

  it.each([undefined, null, 7, "", ":memory:", "cut\0off.db", { path: "copy.db" }])(
    "is not made at %j, which names no file",
    async (to) => {
      const [path, copy, folder] = [tempLedger(), tempLedger(), process.cwd()];
      const store = sqliteStore(path);
      await store.backup(copy);
      process.chdir(tempFolder());
      try {
        const refused = { name: "QavrError", code: "INVALID_ARGUMENT" };
        await expect(store.backup(to as string)).rejects.toMatchObject(refused);
        await expect(restoreBackup(copy, to as string)).rejects.toMatchObject(refused);
        expect(readdirSync(".")).toEqual([]);
      } finally {
        process.chdir(folder);
        await store.close();
      }
    },
  );

  it("that is missing or empty is not restored, and is not asked to be opened for writing", async () => {
    const [missing, empty] = [tempLedger(), tempLedger()];
    writeFileSync(empty, "");
    for (const from of [missing, empty]) {
      const message = `There is no backup ${from}: the file is missing or empty. Name a file that a backup made.`;
      await expect(restoreBackup(from, tempLedger())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", message });
    }
  });

  it("of a ledger in memory is a ledger on the disk", async () => {
    const [store, copy] = [sqliteStore(":memory:"), tempLedger()];
    await store.commit("n", [tally("a")], counting);
    expect(await store.backup(copy)).toMatchObject({ entries: 1 });
    await store.close();
    const opened = openStore(copy);
    expect(await opened.head("n")).toBe(1);
  });

  it("overwrites nothing, and leaves nothing half done", async () => {
    const [path, taken] = [tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    writeFileSync(taken, "mine");
    await expect(store.backup(taken)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    expect(readFileSync(taken, "utf8")).toBe("mine");
    await expect(store.backup(join(taken, "below-a-file.db"))).rejects.toMatchObject({
      code: expect.stringMatching(/^STORE_/),
    });
    // The next copy removes copies interrupted long ago, but not one that another process may be writing.
    const again = tempLedger();
    const [old, young] = ["1", "2"].map((name) => `${again}.${name}.unfinished`) as [string, string];
    const left = [old, `${old}-journal`, `${old}-wal`, `${old}-shm`, `${old}-mark`];
    for (const file of [...left, young]) writeFileSync(file, "half");
    for (const file of left) utimesSync(file, new Date(2020, 1), new Date(2020, 1));
    await store.backup(again);
    expect(readdirSync(dirname(again)).sort()).toEqual([basename(again), basename(young)]);
    await store.close();
    await expect(store.backup(tempLedger())).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("of a damaged ledger leaves no file that looks like a backup", async () => {
    const [path, copy] = [tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    tamper(path, "UPDATE entry SET payload = x'00' WHERE seq = 1");
    const damaged = openStore(path);
    for (let attempt = 0; attempt < 2; attempt++) {
      const refused = damaged.backup(copy);
      await expect(refused).rejects.toMatchObject({ code: "STORE_CORRUPT", details: { path, damaged: 1 } });
      expect(readdirSync(dirname(copy))).toEqual([]);
    }
    // One that SQLite itself cannot copy is named, too, and not the copy that is not there.
    await damaged.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 4096));
    const broken = openStore(path);
    await expect(broken.backup(copy)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { path },
      message: expect.not.stringContaining(copy),
    });
  });

  it("for which the disk has no room leaves no journal behind", async () => {
    const [path, copy] = [tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    interceptSqlite((run, sql) => {
      run();
      if (sql !== "VACUUM INTO ?") return;
      const [unfinished] = readdirSync(dirname(copy)) as [string];
      writeFileSync(join(dirname(copy), `${unfinished}-journal`), "half");
      throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    });
    await expect(store.backup(copy)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    expect(readdirSync(dirname(copy))).toEqual([]);
  });

  it("gives up when another one was faster, and leaves that one as it is", async () => {
    const [path, copy] = [tempLedger(), tempLedger()];
    const store = openStore(path);
    await store.commit("n", [tally("a")], counting);
    // Between the first look and the name: while the copy is made.
    const restore = interceptSqlite((run) => {
      if (readdirSync(dirname(copy)).some((name) => name.endsWith(".unfinished"))) writeFileSync(copy, "faster");
      return run();
    });
    await expect(store.backup(copy)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    restore();
    expect(readFileSync(copy, "utf8")).toBe("faster");
    expect(readdirSync(dirname(copy))).toEqual([basename(copy)]);
  });

  it("has the digest of what was to be copied, or is none", async () => {
    const [path, copy] = [tempLedger(), tempLedger()];
    const store = openStore(path);
    await store.commit("n", [tally("a")], counting);
    const { digest } = await store.verify();
    const db = new DatabaseSync(path, { readOnly: true });
    expect(refusalOf(() => copyLedger(db, copy, "00")).code).toBe("STORE_FAILED");
    expect(readdirSync(dirname(copy))).toEqual([]);
    expect(copyLedger(db, copy, digest)).toMatchObject({ digest });
    db.close();
  });

  it.each(["-wal", "-shm", "-journal"])("is not made beside a %s that an earlier ledger has left", async (suffix) => {
    const [path, to] = [tempLedger(), tempLedger()];
    const store = openStore(path);
    await store.commit("n", [tally("a")], counting);
    writeFileSync(`${to}${suffix}`, "left");
    for (const refused of [store.backup(to), restoreBackup(path, to)]) {
      await expect(refused).rejects.toMatchObject({
        code: "STORE_UNWRITABLE",
        details: { left: [`${to}${suffix}`] },
        message: expect.stringContaining(`${to}${suffix}`),
      });
    }
    expect(readdirSync(dirname(to))).toEqual([basename(`${to}${suffix}`)]);
  });

  it("is not restored into the log of the ledger that was moved away", async () => {
    const [path, copy] = [tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    for (let i = 0; i < 20; i++) await store.commit("n", [tally(`k${i}`)], counting);
    const { digest } = await store.backup(copy);
    await store.close();
    expect(await runChild("die.mjs", [path, "3"])).toMatchObject({ stdout: "", stderr: "" });
    const moved = tempFolder();
    renameSync(path, join(moved, "ledger.db"));
    await expect(restoreBackup(copy, path)).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    expect(existsSync(path)).toBe(false);
    for (const suffix of ["-wal", "-shm"]) renameSync(`${path}${suffix}`, join(moved, `ledger.db${suffix}`));
    expect(await restoreBackup(copy, path)).toMatchObject({ digest });
    const [old, restored] = [openStore(join(moved, "ledger.db")), openStore(path)];
    expect([await old.head("n"), await restored.head("n")]).toEqual([23, 20]);
    expect(await restored.verify()).toMatchObject({ digest, damaged: 0 });
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
    const { path, store } = newLedger();
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
  });
});
