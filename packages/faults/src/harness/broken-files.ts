import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import { seededRandom } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { flipOneBit } from "./flip-one-bit.js";
import { learnLedger, verified } from "./learned-ledger.js";
import { inFolder } from "./workspace.js";

const FLIPS = { quick: 40, full: 1_000 } as const;
/** Opens and verifies a file with these bytes; what it says is empty when it does not verify. @throws what opening throws */
async function inspect(bytes: Uint8Array, path: string): Promise<{ readonly ok: boolean; readonly said: string }> {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  writeFileSync(path, bytes);
  return verified(sqliteStore(path));
}

export interface FlipTally {
  found: number;
  /** All that can be read is as it was. */
  harmless: number;
  missed: number;
  /** Of those found, how many SQLite's own check finds. */
  foundBySqlite: number;
}

/** Flips one bit at a time in a ledger's file, and verifies it. */
async function flipBits(flips: number): Promise<FlipTally> {
  const tally: FlipTally = { found: 0, harmless: 0, missed: 0, foundBySqlite: 0 };
  const random = seededRandom(5);
  await inFolder(async (folder) => {
    const [source, path] = [join(folder, "source.db"), join(folder, "flipped.db")];
    await learnLedger(sqliteStore(source));
    const original = readFileSync(source);
    const { said } = await inspect(original, path);
    for (let flip = 0; flip < flips; flip++) {
      const flipped = flipOneBit(original, random);
      const after = await inspect(flipped, path).catch((error: unknown) => {
        if (!QavrError.isInstance(error)) throw error;
        return undefined;
      });
      if (after?.ok) tally[after.said === said ? "harmless" : "missed"] += 1;
      else {
        tally.found += 1;
        if (sqliteFinds(flipped, path)) tally.foundBySqlite += 1;
      }
    }
  });
  return tally;
}

function sqliteFinds(bytes: Uint8Array, path: string): boolean {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  writeFileSync(path, bytes);
  try {
    const db = new DatabaseSync(path);
    try {
      return db.prepare("PRAGMA integrity_check").get()?.integrity_check !== "ok";
    } finally {
      db.close();
    }
  } catch {
    return true;
  }
}

/** Files that are no ledger (any more), and what the store should say of each. */
async function strangeFiles(): Promise<readonly CheckResult[]> {
  return inFolder(async (folder) => {
    const [source, path] = [join(folder, "source.db"), join(folder, "strange.db")];
    await learnLedger(sqliteStore(source));
    const whole = readFileSync(source);
    const foreign = join(folder, "foreign.db");
    const other = new DatabaseSync(foreign);
    other.exec("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')");
    other.close();
    const noise = Buffer.from(Array.from({ length: 8_192 }, (_, i) => (i * 7_919 + 13) % 251));
    const files: readonly { readonly what: string; readonly bytes: Buffer; readonly codes: readonly string[] }[] = [
      ...[1, 99, 100, 4_095, 4_096, 12_288, whole.length - 4_096, whole.length - 1].map((length) => ({
        what: `cut to ${length} bytes`,
        bytes: whole.subarray(0, length),
        // SQLite reads zeros behind the end: where the bytes that were cut are zeros, nothing is missing.
        codes: ["STORE_CORRUPT", "STORE_FOREIGN", "damage", "unharmed"],
      })),
      { what: "noise", bytes: noise, codes: ["STORE_CORRUPT"] },
      { what: "text", bytes: Buffer.from("# notes\n".repeat(900)), codes: ["STORE_CORRUPT"] },
      { what: "another application's database", bytes: readFileSync(foreign), codes: ["STORE_FOREIGN"] },
      {
        what: "pages of zeros behind the first",
        bytes: Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096)]),
        codes: ["STORE_CORRUPT", "damage"],
      },
    ];
    const unharmed = await inspect(whole, path);
    const wrong: string[] = [];
    for (const { what, bytes, codes } of files) {
      const answer = await inspect(bytes, path).then(
        ({ ok, said }) => (ok ? (said === unharmed.said ? "unharmed" : "no complaint") : "damage"),
        (error: unknown) => (QavrError.isInstance(error) ? error.code : String(error)),
      );
      if (!codes.includes(answer)) wrong.push(`${what}: ${answer}`);
    }
    return [
      {
        promise: "R13",
        what: "truncated, foreign and garbage files",
        tried: `${files.length} files`,
        seen: wrong.length === 0 ? "each refused or reported, none crashed" : wrong.join("; "),
        held: wrong.length === 0,
      },
    ];
  });
}

export const brokenFiles: Harness = {
  name: "broken files",
  async run(size): Promise<readonly CheckResult[]> {
    const { found, harmless, missed, foundBySqlite } = await flipBits(FLIPS[size]);
    return [
      {
        promise: "R13",
        what: "one flipped bit in the file, then verify (SQLite)",
        tried: `${FLIPS[size]} flips, ${harmless} without effect`,
        seen: `${found} of ${found + missed} found`,
        held: found / (found + missed) >= 0.99,
      },
      mutantResult({
        what: "SQLite's own check instead of verify",
        tried: `${found + missed} flips with an effect`,
        seen: `${foundBySqlite} found`,
        held: foundBySqlite < 0.99 * (found + missed),
      }),
      ...(await strangeFiles()),
    ];
  },
};
