import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEngine, QavrError } from "@qavr/core";
import { seededRandom } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { flipOneBit } from "./flip-one-bit.js";
import { learnedText } from "./learned-text.js";
import { record } from "./runs.js";
import { inFolder } from "./workspace.js";

const FLIPS = { quick: 40, full: 500 } as const;
const LENGTHS = { quick: 10, full: 50 } as const;
/** The log is damaged at several moments of its growth, the last one at this size in bytes. */
const LOG_BYTES = 2_500_000;
/** Files of a ledger that survive the process; the index of the log is rebuilt. */
const FILES = ["", "-wal", "-mark"];

/** A ledger as a killed process left it, with all that it had acknowledged. */
interface Crashed {
  readonly path: string;
  readonly outcomes: number;
  readonly learned: string;
}

interface Tally {
  /** Opening refused with STORE_CORRUPT. */
  told: number;
  /** All that was acknowledged is there, and rankings read the same. */
  harmless: number;
  silent: number;
  /** Refused with another code. */
  readonly wrong: Set<string>;
  /** Those told or silent in which SQLite alone finds no fault, while entries are missing. */
  unseenBySqlite: number;
}

/** Records runs until the log is long, and copies the files at several moments, as a crash would leave them. */
async function crash(folder: string, moments: number): Promise<readonly Crashed[]> {
  const source = join(folder, "source.db");
  const engine = createEngine({ store: sqliteStore(source) });
  const crashed: Crashed[] = [];
  const log = (): number => statSync(`${source}-wal`).size;
  for (let run = 0; log() < LOG_BYTES; run++) {
    await record(engine, run);
    if (log() < ((crashed.length + 1) * LOG_BYTES) / moments) continue;
    const path = join(folder, `crashed-${crashed.length}.db`);
    copy(source, path);
    crashed.push({ path, outcomes: run + 1, learned: await learnedText(engine) });
  }
  await engine.close();
  return crashed;
}

function copy(from: string, to: string): void {
  for (const suffix of [...FILES, "-shm"]) rmSync(to + suffix, { force: true });
  for (const suffix of FILES) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
}

/** Damages copies of crashed ledgers and opens them as an application would. */
async function damageEach(
  folder: string,
  crashed: readonly Crashed[],
  times: number,
  damage: (log: string, time: number) => void,
): Promise<Tally> {
  const tally: Tally = { told: 0, harmless: 0, silent: 0, wrong: new Set(), unseenBySqlite: 0 };
  const path = join(folder, "damaged.db");
  for (let time = 0; time < times; time++) {
    const source = crashed[time % crashed.length] as Crashed;
    copy(source.path, path);
    damage(`${path}-wal`, time);
    const answer = await readOutcomes(path).catch((error: unknown) => {
      if (!QavrError.isInstance(error)) throw error;
      return error.code;
    });
    if (typeof answer === "string") {
      if (answer === "STORE_CORRUPT") tally.told += 1;
      else tally.wrong.add(answer);
    } else if (answer.outcomes === source.outcomes && answer.learned === source.learned) tally.harmless += 1;
    else tally.silent += 1;
    copy(source.path, path);
    damage(`${path}-wal`, time);
    if (!(await sqliteFinds(path, source.outcomes))) tally.unseenBySqlite += 1;
  }
  return tally;
}

async function readOutcomes(path: string): Promise<Omit<Crashed, "path">> {
  const engine = createEngine({ store: sqliteStore(path) });
  try {
    return { outcomes: (await engine.status()).outcomes.user, learned: await learnedText(engine) };
  } finally {
    await engine.close();
  }
}

/** True when SQLite's own check complains, or when nothing is missing. */
async function sqliteFinds(path: string, outcomes: number): Promise<boolean> {
  const db = new DatabaseSync(path);
  try {
    if (db.prepare("PRAGMA integrity_check").get()?.integrity_check !== "ok") return true;
    const exists = db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'entry'").get()?.n;
    if (!exists) return false;
    return (
      Number(db.prepare("SELECT count(*) AS n FROM entry WHERE type = CAST('outcome' AS BLOB)").get()?.n) >= outcomes
    );
  } finally {
    db.close();
  }
}

export const brokenLogs: Harness = {
  name: "broken logs",
  async run(size): Promise<readonly CheckResult[]> {
    return inFolder(async (folder) => {
      const crashed = await crash(folder, LENGTHS[size]);
      const random = seededRandom(5);
      const results: CheckResult[] = [];
      const add = (what: string, times: number, tally: Tally): void => {
        const { told, harmless, silent, wrong } = tally;
        results.push({
          promise: "R13",
          what,
          tried: `${times} crashed ledgers, ${harmless} unharmed`,
          seen: `${told} of ${times - harmless} refused with STORE_CORRUPT, ${silent} silent${wrong.size > 0 ? `, others with ${[...wrong].join(", ")}` : ""}`,
          held: told === times - harmless && told > 0,
        });
      };
      const last = crashed.slice(-1);
      const flips = await damageEach(folder, last, FLIPS[size], (log) =>
        writeFileSync(log, flipOneBit(readFileSync(log), random)),
      );
      add("one flipped bit in the log of a killed process (SQLite)", FLIPS[size], flips);
      add(
        "the log of a killed process deleted (SQLite)",
        LENGTHS[size],
        await damageEach(folder, crashed, LENGTHS[size], (log) => rmSync(log)),
      );
      add(
        "the log of a killed process cut to a shorter length (SQLite)",
        LENGTHS[size],
        await damageEach(folder, crashed, LENGTHS[size], (log) =>
          truncateSync(log, Math.floor(random() * statSync(log).size)),
        ),
      );
      results.push(
        mutantResult({
          what: "the log is left to SQLite alone",
          tried: `${FLIPS[size]} flips`,
          seen: `${flips.unseenBySqlite} lose outcomes without a word`,
          held: flips.unseenBySqlite > 0.9 * FLIPS[size],
        }),
      );
      return results;
    });
  },
};
