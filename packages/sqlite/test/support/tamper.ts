import { DatabaseSync } from "node:sqlite";

/** Changes a file behind its store's back, as a program with a bug would: SQLite itself finds nothing wrong. */
export function tamper(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}
