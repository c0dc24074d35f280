import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { counting, tally } from "../../../core/test/support/counting.js";
import { newLedger } from "./temp-folder.js";

/** Changes a file behind its store's back, as a program with a bug would: SQLite itself finds nothing wrong. */
export function tamper(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

/** Flips a bit of what is kept of namespace `n`. */
export function damage(path: string, part: "head" | "digest" | "states"): void {
  const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte, place) => (place === 1 ? byte ^ 1 : byte));
  const db = new DatabaseSync(path);
  const row = db.prepare("SELECT id, head, digest FROM namespace WHERE name = CAST('n' AS BLOB)").get();
  if (part === "head")
    db.prepare("UPDATE namespace SET head = ? WHERE id = ?").run(Number(row?.head) ^ 64, row?.id as number);
  if (part === "digest") {
    db.prepare("UPDATE namespace SET digest = ? WHERE id = ?").run(
      flipped(row?.digest as Uint8Array),
      row?.id as number,
    );
  }
  if (part === "states") {
    for (const { at, value } of db.prepare("SELECT rowid AS at, value FROM state").all()) {
      db.prepare("UPDATE state SET value = ? WHERE rowid = ?").run(flipped(value as Uint8Array), at as number);
    }
  }
  db.close();
}

/** Path of a ledger of many pages that are broken from this byte on. */
export async function brokenFrom(byte: number): Promise<string> {
  const { path, store } = newLedger();
  const entries = Array.from({ length: 300 }, (_, i) => ({ ...tally(`k${i}`), payload: new Uint8Array(900).fill(i) }));
  await store.commit("n", entries, counting);
  await store.close();
  writeFileSync(path, readFileSync(path).fill(0xa5, byte));
  return path;
}
