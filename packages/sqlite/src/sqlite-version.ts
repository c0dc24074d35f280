/**
 * First SQLite release whose WAL mode is safe with more than one connection. Before it, a connection that checkpointed while
 * another one reset the log could lose committed frames (the "WAL-reset" bug of 3.7.0 to 3.51.2).
 * Source: https://sqlite.org/releaselog/3_51_3.html
 */
export const SAFE_SHARED_WAL: SqliteVersion = [3, 51, 3];

/** Major, minor and patch. */
export type SqliteVersion = readonly [major: number, minor: number, patch: number];

/** Reads `select sqlite_version()`; undefined for a text that is no version. */
export function parseSqliteVersion(text: string): SqliteVersion | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}

/** Whether several connections, in one or more processes, may use one WAL file. An unreadable version may not. */
export function allowsSharedWal(version: string): boolean {
  const parsed = parseSqliteVersion(version);
  if (!parsed) return false;
  for (const [place, safe] of SAFE_SHARED_WAL.entries()) {
    const part = parsed[place] as number;
    if (part !== safe) return part > safe;
  }
  return true;
}
