import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "@qavr/core";
import { replay, verify } from "@qavr/core/maintenance";
import { restoreBackup, type SqliteStore, sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { type Recorded, recordInProcess } from "./recording-process.js";
import { inFolder } from "./workspace.js";

const BACKUPS = { quick: 4, full: 100 } as const;
/** Taken from one ledger, before another one is begun: each looks at all of the ledger, which grows meanwhile. */
const PER_LEDGER = 5;
/** How far apart the numbers of two writers' runs lie. */
const APART = 1_000_000;

export interface BackupTally {
  taken: number;
  /** Acknowledged before their backup began, over all backups. */
  acknowledged: number;
  /** Of these, the ones that were not in the restored ledger. */
  missing: number;
  /** Restored ledgers that do not verify, or whose states do not follow from their entries. */
  broken: number;
}

/** Makes a copy of a ledger in use, and a ledger of that copy at another path. */
type BackUp = (store: SqliteStore, ledger: string, restored: string) => Promise<void>;

const backUp: BackUp = async (store, _, restored) => {
  const copy = `${restored}.backup`;
  await store.backup(copy);
  await restoreBackup(copy, restored);
  rmSync(copy);
};

/** The fault that the harness must see. */
const copyFile: BackUp = async (_, ledger, restored) => copyFileSync(ledger, restored);

/** Copies a ledger while two other processes record into it, and looks in each copy for what was acknowledged before. */
async function backUpWhileWriting(backups: number, how: BackUp = backUp): Promise<BackupTally> {
  const tally: BackupTally = { taken: 0, acknowledged: 0, missing: 0, broken: 0 };
  while (tally.taken < backups) {
    await inFolder((folder) => fromOneLedger(folder, Math.min(backups, tally.taken + PER_LEDGER), how, tally));
  }
  return tally;
}

async function fromOneLedger(folder: string, until: number, how: BackUp, tally: BackupTally): Promise<void> {
  const path = join(folder, "ledger.db");
  const store = sqliteStore(path);
  const writers: { pid: number; sofar: () => Recorded }[] = [];
  let stopped: Promise<unknown> = Promise.resolve();
  await new Promise<void>((bothWrite, failed) => {
    const write = (writer: number): Promise<Recorded> =>
      recordInProcess({
        path,
        first: writer * APART,
        after: "first acknowledgement",
        interrupt(pid, sofar) {
          writers.push({ pid, sofar });
          if (writers.length === 2) bothWrite();
        },
      });
    stopped = Promise.all([write(0), write(1)]);
    stopped.catch(failed);
  });
  for (; tally.taken < until; tally.taken++) {
    const acknowledged = writers.flatMap(({ sofar }) => [...sofar().acknowledged.keys()]);
    const restored = join(folder, `${tally.taken}.db`);
    await how(store, path, restored);
    await lookInto(restored, acknowledged, tally);
    rmSync(restored, { force: true });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const { pid } of writers) process.kill(pid, "SIGKILL");
  await stopped;
  await store.close();
}

async function lookInto(path: string, acknowledged: readonly number[], tally: BackupTally): Promise<void> {
  const engine = createEngine({ store: sqliteStore(path) });
  const { ok } = await verify(engine);
  if (!(ok && (await replay(engine)).identical)) tally.broken++;
  for (const run of acknowledged) {
    if ((await engine.explain(`run-${run}`))?.outcome === undefined) tally.missing++;
  }
  tally.acknowledged += acknowledged.length;
  await engine.close();
}

export const backups: Harness = {
  name: "backups",
  async run(size): Promise<readonly CheckResult[]> {
    const { taken, acknowledged, missing, broken } = await backUpWhileWriting(BACKUPS[size]);
    const mutant = await backUpWhileWriting(2, copyFile);
    return [
      {
        promise: "R19",
        what: "a backup while two processes record, restored to a new path (SQLite)",
        tried: `${taken} backups, ${acknowledged} outcomes acknowledged before they began`,
        seen: `${missing} outcomes missing, ${broken} restored ledgers that do not verify or do not follow from their entries`,
        held: missing === 0 && broken === 0 && acknowledged > 0,
      },
      mutantResult({
        what: "copies the file",
        tried: `${mutant.taken} backups`,
        seen: `${mutant.missing} missing outcomes seen`,
        held: mutant.missing > 0,
      }),
    ];
  },
};
