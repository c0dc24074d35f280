import { loadSqlite, sqliteVersion } from "../../src/sqlite-module.js";
import { allowsSharedWal } from "../../src/sqlite-version.js";

/** Whether this Node's SQLite lets several connections use one ledger; on an older one, tests of sharing do not apply. */
export const SHARES_FILES: boolean = allowsSharedWal(sqliteVersion(loadSqlite()));
