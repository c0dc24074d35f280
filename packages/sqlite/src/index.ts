export { SQLITE_DEFAULTS, type SqliteStoreOptions } from "./sqlite-options.js";
export { sqliteStore } from "./sqlite-store.js";
