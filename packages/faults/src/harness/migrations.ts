import { spawn } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import { seededRandom } from "@qavr/bench";
import type { CheckResult, Harness } from "./check.js";
import { fixture, inFolder } from "./workspace.js";

const KILLS = { quick: 5, full: 200 } as const;
const RACES = { quick: 2, full: 25 } as const;
export const ENTRIES = 4_000;
export const RACERS = 4;
/** What {@link openInProcess} prints of the whole ledger. */
export const WHOLE: string = `${ENTRIES} 0`;
/** Kills after which a mutant counts as missed. */
export const PATIENCE = 40;

/** A ledger after a killed migration. */
export type Left = "old" | "new" | "half";

/** The first schema, as it was released. */
const FIRST_SCHEMA = `
  CREATE TABLE namespace (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, head INTEGER NOT NULL) STRICT;
  CREATE TABLE entry (id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, seq INTEGER NOT NULL, key BLOB NOT NULL,
    type BLOB NOT NULL, at REAL NOT NULL, payload BLOB NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (namespace, seq), UNIQUE (namespace, key)) STRICT;
  CREATE TABLE scope (id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, name BLOB NOT NULL, UNIQUE (namespace, name)) STRICT;
  CREATE TABLE state (scope INTEGER NOT NULL, id BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (scope, id)) STRICT;
  PRAGMA application_id = ${0x71617672};
  PRAGMA user_version = 1;
`;

function oldLedger(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; BEGIN; ${FIRST_SCHEMA}`);
  db.prepare("INSERT INTO namespace VALUES (1, ?, ?)").run(Buffer.from("n"), ENTRIES);
  const add = db.prepare("INSERT INTO entry VALUES (?, 1, ?, ?, ?, ?, ?, ?)");
  for (let seq = 1; seq <= ENTRIES; seq++) {
    const [key, type, payload] = [Buffer.from(`k${seq}`), Buffer.from("tally"), Buffer.alloc(600, seq)];
    const numbers = Buffer.alloc(24);
    numbers.writeDoubleBE(seq, 0);
    numbers.writeDoubleBE(1_700_000_000_000, 8);
    numbers.writeUInt32BE(key.length, 16);
    numbers.writeUInt32BE(type.length, 20);
    add.run(seq, seq, key, type, 1_700_000_000_000, payload, crc32(payload, crc32(type, crc32(key, crc32(numbers)))));
  }
  db.exec("COMMIT");
  db.close();
}

function copyOf(source: string, path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  copyFileSync(source, path);
}

function schemaOf(path: string): number {
  const db = new DatabaseSync(path);
  try {
    return Number(db.prepare("PRAGMA user_version").get()?.user_version);
  } finally {
    db.close();
  }
}

/** What a killed migration has left: the whole ledger in one of the schemas, or something else. */
async function leftAt(path: string, newest: number): Promise<Left> {
  const schema = schemaOf(path);
  if (schema !== 1 && schema !== newest) return "half";
  // The next one who opens it finds the whole ledger, migrated.
  const whole = (await openInProcess(path)).trim() === WHOLE;
  if (!whole) return "half";
  return schema === 1 ? "old" : "new";
}

/** Opens a ledger in a process of its own, and returns what that prints; it may be killed after so many ms. */
export function openInProcess(place: string, killAfter?: number, mode = ""): Promise<string> {
  const child = spawn(process.execPath, [fixture("open-ledger.mjs"), place, mode], {
    // A mutant may complain as much as it likes.
    stdio: ["ignore", "pipe", mode === "" ? "inherit" : "ignore"],
  });
  if (killAfter !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfter);
  return text(child.stdout);
}

export const migrations: Harness = {
  name: "migrations",
  async run(size): Promise<readonly CheckResult[]> {
    return inFolder(async (folder) => {
      const [source, path] = [join(folder, "old.db"), join(folder, "ledger.db")];
      oldLedger(source);
      copyOf(source, path);
      const started = performance.now();
      await openInProcess(path);
      const whole = performance.now() - started;
      const newest = schemaOf(path);
      const random = seededRandom(3);
      const kill = async (after: number, mode?: "piecemeal"): Promise<Left> => {
        copyOf(source, path);
        await openInProcess(path, after, mode);
        return leftAt(path, newest);
      };
      const seen = { old: 0, new: 0, half: 0 };
      for (let i = 0; i < KILLS[size]; i++) seen[await kill(whole * (0.1 + random()))] += 1;
      let [piecemeal, half] = [0, 0];
      for (; half === 0 && piecemeal < PATIENCE; piecemeal++) {
        if ((await kill(whole * (0.4 + random()), "piecemeal")) === "half") half += 1;
      }
      let failed = 0;
      for (let race = 0; race < RACES[size]; race++) {
        copyOf(source, path);
        const answers = await Promise.all(Array.from({ length: RACERS }, () => openInProcess(path)));
        failed += answers.filter((answer) => answer.trim() !== WHOLE).length;
      }
      return migrationResults("SQLite", { kills: KILLS[size], seen, races: RACES[size], failed, piecemeal, half });
    });
  },
};

/** What came of killed and racing migrations. */
export interface MigrationTally {
  readonly kills: number;
  readonly seen: Readonly<Record<Left, number>>;
  readonly races: number;
  /** Processes that failed, or saw something else than the whole ledger. */
  readonly failed: number;
  /** Kills of migrations without a transaction, and how many of them were seen to leave half of one. */
  readonly piecemeal: number;
  readonly half: number;
}

export function migrationResults(
  store: string,
  { kills, seen, races, failed, piecemeal, half }: MigrationTally,
): readonly CheckResult[] {
  return [
    {
      promise: "R16",
      what: `SIGKILL to a process that migrates a ledger of ${ENTRIES.toLocaleString("en")} entries (${store})`,
      tried: `${kills} kills`,
      seen: `${seen.old} as before, ${seen.new} migrated, ${seen.half} half`,
      held: seen.half === 0,
    },
    {
      promise: "R16",
      what: `${RACERS} processes that migrate one ledger at once (${store})`,
      tried: `${races} races`,
      seen: `${failed} processes that failed or saw something else than the whole ledger`,
      held: failed === 0,
    },
    {
      promise: "R25",
      what: `mutant: migrates without a transaction (${store})`,
      tried: `${piecemeal} kills`,
      seen: `${half} half migrated`,
      held: half > 0,
      mutant: true,
    },
  ];
}
