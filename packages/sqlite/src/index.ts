export { type BackupReport, restoreBackup } from "./backup.js";
export { SQLITE_DEFAULTS, type SqliteStoreOptions } from "./sqlite-options.js";
export { SPOOL_DEFAULTS, type SqliteSpoolOptions, sqliteSpool } from "./sqlite-spool.js";
export { type SqliteStore, sqliteStore } from "./sqlite-store.js";
