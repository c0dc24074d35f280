import { constants, copyFileSync, existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { QavrError } from "@qavr/core";
import type { LedgerCheck } from "@qavr/core/store";
import { syncFile } from "./backup.js";
import { MARK } from "./ledger-files.js";
import { damageOfLog, type LogDamage } from "./log-check.js";
import { openDatabase } from "./open-database.js";
import { toStoreError } from "./sqlite-errors.js";
import { assertCopyName, resolveSqliteOptions } from "./sqlite-options.js";
import { sqliteStore } from "./sqlite-store.js";

/** The rest of a ledger that lost a part of its log. */
export interface LedgerRepair extends LedgerCheck {
  /** Absolute path of the ledger. */
  readonly path: string;
  /** Damage of the log, if there was any. */
  readonly log?: LogDamage & {
    /** Path of a copy of the damaged log. */
    readonly keptAs: string;
  };
}

/**
 * Makes a ledger usable whose log is damaged, lost or shortened (`STORE_CORRUPT` at open): keeps every commit before the damage and
 * gives up those behind it. A damaged log is copied first. Close every process that has the ledger open.
 *
 * Outcomes that are lost may be reported again with their idempotency keys; those that were kept are not counted twice.
 *
 * @returns the check of what was kept: other damage needs a backup
 * @throws INVALID_ARGUMENT for a path that names no file; STORE_BUSY while another process reads or writes it; and the errors of opening
 */
export async function repairLedger(path: string): Promise<LedgerRepair> {
  assertCopyName(path);
  const options = resolveSqliteOptions(path);
  if (!existsSync(options.path)) {
    throw new QavrError("STORE_UNAVAILABLE", `There is no ledger ${options.path}. Restore a backup.`, {
      details: { path: options.path },
    });
  }
  const damage = damageOfLog(options.path);
  const log = damage && { ...damage, keptAs: setAside(damage.log, options.path) };
  // Neither the log nor the mark is held against it.
  const { db } = openDatabase(options, { marked: { last: undefined, unsynced: true } });
  try {
    if (db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy !== 0) throw stillOpen(options.path);
    rmSync(options.path + MARK, { force: true });
  } catch (error) {
    throw toStoreError(error, options.path);
  } finally {
    db.close();
  }
  const store = sqliteStore(path);
  try {
    return { ...(await store.verify()), path: options.path, ...(log ? { log } : {}) };
  } finally {
    await store.close();
  }
}

/** Copies a damaged log to a name that is free. */
function setAside(log: string, path: string): string {
  for (let number = 1; ; number++) {
    const keptAs = `${log}.damaged-${number}`;
    if (existsSync(keptAs)) continue;
    try {
      copyFileSync(log, keptAs, constants.COPYFILE_EXCL);
      syncFile(keptAs);
    } catch (error) {
      throw toStoreError(error, path);
    }
    return resolve(keptAs);
  }
}

function stillOpen(path: string): QavrError {
  return new QavrError(
    "STORE_BUSY",
    `Another process has the ledger ${path} open, so its log cannot be cut. Close it and try again.`,
    { details: { path } },
  );
}
