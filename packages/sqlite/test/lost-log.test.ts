import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "@qavr/core";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { repairLedger, restoreBackup, type SqliteStoreOptions, sqliteStore } from "../src/index.js";
import { runChild } from "./support/child.js";
import { refusalOf } from "./support/refusal.js";
import { SHARES_FILES } from "./support/sharing.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

const COMMITS = 12;
const PAGE = 4_096;
const FRAME = PAGE + 24;

/** Copies the files that survive a process. */
function copyFiles(from: string, to: string, suffixes: readonly string[] = ["", "-wal", "-mark"]): void {
  for (const suffix of ["", "-wal", "-mark", "-shm"]) rmSync(to + suffix, { force: true });
  for (const suffix of suffixes) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
}

/** The files of a ledger whose process was killed after some commits; they are in the log alone. */
async function killed(options: Partial<SqliteStoreOptions> = {}, commits = COMMITS): Promise<string> {
  const [path, left] = [tempLedger(), tempLedger()];
  const store = sqliteStore({ ...options, path });
  for (let n = 0; n < commits; n++) await store.commit("n", [tally(`key ${n}`)], counting);
  copyFiles(path, left);
  await store.close();
  return left;
}

/** Flips a bit of a frame's page, or of its header. */
function flip(path: string, frame: number, offset = 24 + 100): void {
  const log = readFileSync(`${path}-wal`);
  const at = 32 + frame * FRAME + offset;
  log[at] = (log[at] as number) ^ 4;
  writeFileSync(`${path}-wal`, log);
}

const framesOf = (path: string): number => Math.floor((statSync(`${path}-wal`).size - 32) / FRAME);

async function countAt(path: string): Promise<number> {
  const store = sqliteStore(path);
  const count = await countIn(store);
  await store.close();
  return count;
}

describe("a ledger behind a symbolic link", () => {
  it("has one log and one mark, by whichever name it is opened", async () => {
    const whole = await killed();
    const path = tempLedger();
    const link = tempLedger();
    symlinkSync(path, link);
    expect(await countAt(link)).toBe(0);
    copyFiles(whole, path);
    flip(path, 3);
    const { code, details } = refusalOf(() => sqliteStore(link));
    expect([code, details.at]).toEqual(["STORE_CORRUPT", 32 + 3 * FRAME]);
    const repaired = await repairLedger(link);
    expect(existsSync(repaired.log?.keptAs as string)).toBe(true);

    const store = sqliteStore(link);
    await store.commit("n", [tally("by the link")], counting);
    await store.close();
    const other = sqliteStore(path);
    await other.eraseNamespace("n");
    await other.close();
    expect(await countAt(link)).toBe(0);
    expect(readdirSync(dirname(link))).toEqual(["ledger.db"]);
  });
});

describe("the log of a process that was killed", () => {
  it("is refused with STORE_CORRUPT for a flipped bit in any part of any frame, and left as it was", async () => {
    const whole = await killed();
    const path = tempLedger();
    const frames = framesOf(whole);
    for (let frame = 0; frame < frames; frame++) {
      for (const offset of [0, 5, 9, 18, 24 + ((frame * 37) % PAGE)]) {
        copyFiles(whole, path);
        flip(path, frame, offset);
        expect(refusalOf(() => sqliteStore(path)).code, `frame ${frame}, byte ${offset}`).toBe("STORE_CORRUPT");
      }
    }
    copyFiles(whole, path);
    flip(path, 3);
    const before = readFileSync(`${path}-wal`);
    const refusal = refusalOf(() => sqliteStore(path));
    expect(refusal.details).toMatchObject({ path, at: 32 + 3 * FRAME });
    expect(refusal.message).toContain("repairLedger");
    expect(refusalOf(() => sqliteStore({ path, readOnly: true })).code).toBe("STORE_CORRUPT");
    expect(readFileSync(`${path}-wal`).equals(before)).toBe(true);
  });

  it("is refused for a flipped bit in its header, in any byte", async () => {
    const whole = await killed();
    const path = tempLedger();
    for (let at = 0; at < 32; at++) {
      copyFiles(whole, path, ["", "-wal"]);
      flip(path, 0, at - 32);
      expect(refusalOf(() => sqliteStore(path)).code, `byte ${at}`).toBe("STORE_CORRUPT");
    }
  });

  it("is missed when it was deleted, or cut anywhere", async () => {
    const whole = await killed();
    const path = tempLedger();
    copyFiles(whole, path, ["", "-mark"]);
    expect(refusalOf(() => sqliteStore(path))).toMatchObject({
      code: "STORE_CORRUPT",
      details: { head: 0, marked: COMMITS, lost: COMMITS },
    });
    const { size } = statSync(`${whole}-wal`);
    for (const bytes of [0, 10, 32, 33, FRAME, size - FRAME, size - 1]) {
      copyFiles(whole, path);
      truncateSync(`${path}-wal`, bytes);
      expect(refusalOf(() => sqliteStore(path)).code, `${bytes} bytes`).toBe("STORE_CORRUPT");
      // Refused again: nothing was taken for the ledger meanwhile.
      expect(refusalOf(() => sqliteStore(path)).code, `${bytes} bytes, again`).toBe("STORE_CORRUPT");
    }
  });

  it("tells rot from a torn end also without a mark, and counts the transactions around it", async () => {
    const path = tempLedger();
    const whole = await killed();
    const log = readFileSync(`${whole}-wal`);
    const ends = Array.from({ length: framesOf(whole) }, (_, frame) => log.readUInt32BE(32 + frame * FRAME + 4) !== 0);
    const all = ends.filter(Boolean).length;
    for (const [frame, isEnd] of ends.entries()) {
      copyFiles(whole, path, ["", "-wal"]);
      flip(path, frame);
      const before = ends.slice(0, frame).filter(Boolean).length;
      if (before === all - 1) expect(await countAt(path), `frame ${frame}`).toBe(COMMITS - 1);
      else {
        const { details } = refusalOf(() => sqliteStore(path));
        expect(details, `frame ${frame}`).toMatchObject({ whole: before, lost: all - before - (isEnd ? 1 : 0) });
        // Rot of two frames hides no transaction either.
        if (frame > 0) flip(path, frame - 1);
        expect(refusalOf(() => sqliteStore(path)).code, `frames before ${frame}`).toBe("STORE_CORRUPT");
      }
    }
  });

  it("is repaired to what is whole, and the damaged log is kept", async () => {
    const path = await killed();
    const frames = framesOf(path);
    flip(path, frames - 14);
    const damaged = readFileSync(`${path}-wal`);
    const { log, ...check } = await repairLedger(path);
    expect(check.damaged).toBe(0);
    expect(check.entries).toBeGreaterThan(COMMITS / 2);
    expect(check.entries).toBeLessThan(COMMITS);
    expect(readFileSync(log?.keptAs as string).equals(damaged)).toBe(true);
    const store = sqliteStore(path);
    expect(await countIn(store)).toBe(check.entries);
    // Reported again: those that were kept are known.
    const again = await store.commit(
      "n",
      Array.from({ length: COMMITS }, (_, n) => tally(`key ${n}`)),
      counting,
    );
    expect(again.filter(({ status }) => status === "duplicate")).toHaveLength(check.entries);
    expect(await countIn(store)).toBe(COMMITS);
    await store.close();
    expect(await countAt(path)).toBe(COMMITS);
  });

  it("is repaired to nothing when it was all there was", async () => {
    const path = await killed();
    rmSync(`${path}-wal`);
    expect(await repairLedger(path)).toMatchObject({ entries: 0, damaged: 0 });
    expect(await countAt(path)).toBe(0);
    await expect(repairLedger(tempLedger())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(repairLedger(":memory:")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    // A ledger that was copied without its mark.
    rmSync(`${path}-mark`);
    expect(await repairLedger(path)).toMatchObject({ entries: 0, damaged: 0 });
  });

  it.runIf(SHARES_FILES)("is not repaired while another process reads it", async () => {
    const path = await killed();
    const reader = closing(new DatabaseSync(path));
    reader.exec("BEGIN; SELECT * FROM entry");
    await expect(repairLedger(path)).rejects.toMatchObject({ code: "STORE_BUSY", details: { path } });
    expect(existsSync(`${path}-mark`)).toBe(true);
    reader.exec("ROLLBACK");
    expect(await repairLedger(path)).toMatchObject({ entries: COMMITS });
  });
});

describe("no false alarm is raised", () => {
  it("by a killed process", async () => {
    const path = tempLedger();
    for (let n = 0; n < 3; n++) await runChild("die.mjs", [path, "7"]);
    const store = openStore(path);
    expect(await store.head("n")).toBe(7);
  });

  it.each([
    ["zeros", Buffer.alloc(32 + FRAME)],
    ["a torn header", Buffer.alloc(32, 7)],
  ])("by a power cut while the log began: %s", async (_, bytes) => {
    const path = tempLedger();
    copyFiles(await killed(), path, [""]);
    writeFileSync(`${path}-wal`, bytes);
    expect(await countAt(path)).toBe(0);
  });

  it("by a power cut: the last transaction is torn, and the mark is behind", async () => {
    const [whole, path, early] = [await killed(), tempLedger(), await killed({}, 3)];
    const last = framesOf(await killed({}, COMMITS - 1));
    for (let frame = last; frame < framesOf(whole); frame++) {
      copyFiles(whole, path);
      copyFileSync(`${early}-mark`, `${path}-mark`);
      flip(path, frame);
      expect(await countAt(path), `frame ${frame}`).toBe(COMMITS - 1);
    }
  });

  it("by a process with synchronous = normal, whose log may be torn anywhere", async () => {
    const path = await killed({ synchronous: "normal" });
    flip(path, 8);
    expect(await countAt(path)).toBeLessThan(COMMITS);
    // From a log that has ended on, the rule of synced commits holds again.
    const store = sqliteStore(path);
    for (let n = 0; n < COMMITS; n++) await store.commit("n", [tally(`later ${n}`)], counting);
    const left = tempLedger();
    copyFiles(path, left);
    await store.close();
    flip(left, 4);
    expect(refusalOf(() => sqliteStore(left)).code).toBe("STORE_CORRUPT");
  });

  it("by a copy of a closed file without its mark, by a ledger begun anew, or by a restored backup", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    await store.backup(`${path}.backup`);
    for (const key of ["b", "c"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    const copy = tempLedger();
    copyFileSync(path, copy);
    expect(await countAt(copy)).toBe(3);
    rmSync(path);
    expect(existsSync(`${path}-mark`)).toBe(true);
    await restoreBackup(`${path}.backup`, path);
    expect(await countAt(path)).toBe(1);
    copyFileSync(`${copy}-mark`, `${path}-mark`);
    rmSync(path);
    expect(await countAt(path)).toBe(0);
  });

  it("by an older copy, once repairLedger has accepted it", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    await store.backup(`${path}.backup`);
    await store.commit("n", [tally("b")], counting);
    await store.close();
    copyFileSync(`${path}.backup`, path);
    expect(refusalOf(() => sqliteStore(path))).toMatchObject({ code: "STORE_CORRUPT", details: { lost: 1 } });
    expect(await repairLedger(path)).toMatchObject({ entries: 1 });
    expect(await countAt(path)).toBe(1);
  });

  it("by an erasure, a compaction, a checkpoint or a damaged mark", async () => {
    const path = tempLedger();
    const reopened = async (work: (store: Store) => Promise<unknown>): Promise<void> => {
      const store = sqliteStore(path);
      await work(store);
      await store.close();
    };
    await reopened((store) => store.commit("n", [tally("a"), tally("b")], counting));
    await reopened((store) => store.eraseNamespace("n"));
    // Takes over the row id of the erased one.
    await reopened((store) => store.commit("other", [tally("a")], counting));
    await reopened(async (store) => {
      await store.commit("n", [tally("a"), tally("b"), tally("c")], counting);
      await writeStates(store, "n", [], { seq: 3, states: [] });
    });
    await reopened((store) => store.verify?.() as Promise<unknown>);
    const db = new DatabaseSync(path);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE); VACUUM");
    db.close();
    for (let at = 0; at < 128; at += 3) {
      const mark = readFileSync(`${path}-mark`);
      mark[at] = (mark[at] as number) ^ 1;
      writeFileSync(`${path}-mark`, mark);
      await reopened((store) => store.commit("n", [tally(`at ${at}`)], counting));
    }
  });

  it("by frames that a rolled back or a shorter transaction has left behind", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    if (SHARES_FILES) {
      const db = new DatabaseSync(path);
      db.exec("PRAGMA cache_size = 5; BEGIN; CREATE TABLE big (x); ");
      db.exec(
        "INSERT INTO big SELECT zeroblob(3000) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]')",
      );
      db.exec("ROLLBACK");
      db.close();
    }
    await store.commit("n", [tally("b")], counting);
    const left = tempLedger();
    copyFiles(path, left);
    await store.close();
    expect(await countAt(left)).toBe(2);
  });

  it.runIf(SHARES_FILES)("while another process writes", async () => {
    const path = tempLedger();
    const writer = openStore(path);
    for (let n = 0; n < 60; n++) {
      const writing = writer.commit("n", [tally(`key ${n}`)], counting);
      if (n % 5 === 0) expect(await countAt(path)).toBeGreaterThanOrEqual(n);
      await writing;
    }
  });
});
