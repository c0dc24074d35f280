export type { FileFormat } from "./schema.js";
export { openSqliteFile, type SqliteFile } from "./sqlite-file.js";
export { loadSqlite } from "./sqlite-module.js";
