import { resolve } from "node:path";
import { assertKnownFields, type Defined, definedOnly, type FieldsOf, illegalOption } from "@qavr/core";

/** Where the ledger is and how carefully it is kept. */
export interface SqliteStoreOptions {
  /** File of the ledger, relative to the working folder; missing folders are created. `:memory:` keeps it in this process. */
  readonly path: string;
  /**
   * `full`: an acknowledged outcome survives a crash of the process, of the machine, and power loss.
   * `normal` gives up the last two: outcomes that were acknowledged may be gone after power loss or a crash of the operating
   * system (not after a crash of the process), and the ledger is then shorter but intact. Leave it unless losing the last
   * seconds is fine and the disk is slow.
   * @default "full"
   */
  readonly synchronous?: "full" | "normal" | undefined;
  /**
   * How long a write waits for another process that holds the lock before it is refused with STORE_BUSY. Ms. Waiting does
   * not block the event loop, except in the constructor. Leave it unless other processes hold the file for long.
   * @default 5000
   */
  readonly busyTimeout?: number | undefined;
  /**
   * Memory for states that were read or written lately, in bytes. 0 reads every state from the file. Raise it when many more
   * memories are ranked than fit.
   * @default 67108864 (64 MiB)
   */
  readonly cacheBytes?: number | undefined;
  /**
   * Reads a ledger that something else writes; commits are refused and nothing is created. Where nothing can be written, a ledger
   * that was closed is read as one that nobody writes to (Node 22.15 or newer), and refused with STORE_UNAVAILABLE once somebody does.
   * @default false
   */
  readonly readOnly?: boolean | undefined;
}

/** What applies when an option is left out. */
export const SQLITE_DEFAULTS: Defined<Omit<SqliteStoreOptions, "path">> = {
  synchronous: "full",
  busyTimeout: 5_000,
  cacheBytes: 64 * 1024 * 1024,
  readOnly: false,
};

const OPTIONS: FieldsOf<SqliteStoreOptions> = {
  path: true,
  synchronous: true,
  busyTimeout: true,
  cacheBytes: true,
  readOnly: true,
};

/** Longest time that SQLite and the platform's timers understand, ms: 24 days. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** Options with every default filled in; `path` is absolute, or `:memory:`. */
export interface ResolvedOptions extends Defined<SqliteStoreOptions> {
  /** True for `:memory:`. */
  readonly inMemory: boolean;
}

/** @throws INVALID_ARGUMENT for a path that is empty or no string, or an option that is outside its range or none. */
export function resolveOptions(given: string | SqliteStoreOptions): ResolvedOptions {
  const named = typeof given === "string" ? { path: given } : (given ?? {});
  assertKnownFields(named, "sqliteStore() has no option", OPTIONS);
  const options = { ...SQLITE_DEFAULTS, ...definedOnly<Partial<SqliteStoreOptions>>(named, OPTIONS) };
  const { path, synchronous, busyTimeout, cacheBytes, readOnly } = options;
  if (!isFileName(path)) refuse("path", "must be the name of a file, or :memory:", path);
  if (synchronous !== "full" && synchronous !== "normal")
    refuse("synchronous", 'must be "full" or "normal"', synchronous);
  if (!Number.isFinite(busyTimeout) || busyTimeout < 0 || busyTimeout > MAX_TIMEOUT) {
    refuse("busyTimeout", `must be from 0 to ${MAX_TIMEOUT} ms`, busyTimeout);
  }
  if (!Number.isFinite(cacheBytes) || cacheBytes < 0) refuse("cacheBytes", "must be at least 0 bytes", cacheBytes);
  if (typeof readOnly !== "boolean") refuse("readOnly", "must be true or false", readOnly);
  const inMemory = path === ":memory:";
  if (inMemory && readOnly) refuse("readOnly", "makes no sense for :memory:, which starts empty", readOnly);
  // Absolute, so that SQLite never takes a name for something else: "file:…" would be a URI, "" a temporary file.
  return { synchronous, busyTimeout, cacheBytes, readOnly, inMemory, path: inMemory ? path : resolve(path) };
}

function refuse(option: string, rule: string, received: unknown): never {
  throw illegalOption(option, `The option ${option} ${rule}`, received);
}

function isFileName(path: unknown): path is string {
  return typeof path === "string" && path.trim() !== "" && !path.includes("\0");
}

/** @throws INVALID_ARGUMENT for what a copy cannot be called; `:memory:` would be a file of that name, which nothing opens */
export function assertCopyName(path: unknown): asserts path is string {
  if (isFileName(path) && path !== ":memory:") return;
  throw illegalOption("path", "The path of a copy must be the name of a file", path);
}
