import { allowsSharedWal, loadSqlite, sqliteVersion } from "../../src/sqlite-module.js";

/** True when this Node's SQLite lets several connections use one ledger; older ones skip tests of sharing. */
export const SHARES_FILES: boolean = allowsSharedWal(sqliteVersion(loadSqlite()));
