import { DatabaseSync, StatementSync } from "node:sqlite";
import { onTestFinished } from "vitest";

type Call = (this: unknown, ...given: unknown[]) => unknown;

/** The binding's error when the disk fails; 10 is SQLITE_IOERR. */
export function diskError(): Error {
  return Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
}

/** Lets every call into SQLite pass through `around` until the returned function is called, at the test's end at the latest. */
export function interceptSqlite(around: (run: () => unknown, sql: string | undefined) => unknown): () => void {
  const places = [
    [DatabaseSync.prototype, "exec"],
    [StatementSync.prototype, "run"],
    [StatementSync.prototype, "get"],
    [StatementSync.prototype, "all"],
  ] as const;
  const undo: (() => void)[] = [];
  for (const [prototype, name] of places) {
    const target = prototype as unknown as Record<string, Call>;
    const original = target[name] as Call;
    target[name] = function (this: unknown, ...given) {
      const sql = name === "exec" ? String(given[0]) : (this as StatementSync).sourceSQL;
      return around(() => Reflect.apply(original, this, given), sql);
    };
    undo.push(() => {
      target[name] = original;
    });
  }
  const restore = (): void => {
    for (const step of undo.splice(0)) step();
  };
  onTestFinished(restore);
  return restore;
}
