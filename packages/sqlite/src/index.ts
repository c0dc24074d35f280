export { type BackupReport, restoreBackup } from "./backup.js";
export { type LedgerRepair, repairLedger } from "./repair-ledger.js";
export { SQLITE_DEFAULTS, type SqliteStoreOptions } from "./sqlite-options.js";
export { OUTBOX_DEFAULTS, type SqliteOutboxOptions, sqliteOutbox } from "./sqlite-outbox.js";
export { type SqliteStore, sqliteStore } from "./sqlite-store.js";
