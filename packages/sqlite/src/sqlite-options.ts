import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  between,
  type Defined,
  type FieldRule,
  illegalOption,
  NOT_NEGATIVE,
  oneOf,
  resolveOptions,
  SWITCH,
} from "@qavr/core/store";

/** Place and durability of a ledger. */
export interface SqliteStoreOptions {
  /** File of the ledger, relative to the working folder; missing folders are created. `:memory:` keeps it in this process. */
  readonly path: string;
  /**
   * `full`: an acknowledged outcome survives a crash of the process, of the machine, and power loss.
   * `normal` gives up the last two: power loss or a crash of the operating system may lose acknowledged outcomes, and leaves the ledger
   * shorter but intact. Leave it unless the disk is slow and losing the last seconds is fine.
   * @default "full"
   */
  readonly synchronous?: "full" | "normal" | undefined;
  /**
   * Longest wait of a write for the lock of another process before STORE_BUSY, ms. Waiting does not block the event loop, except while
   * opening. Leave it unless other processes hold the file for long.
   * @default 5000
   */
  readonly busyTimeout?: number | undefined;
  /**
   * Memory for recently used states, in bytes. 0 reads every state from the file. Raise it when many more memories are ranked than fit.
   * @default 67108864 (64 MiB)
   */
  readonly cacheBytes?: number | undefined;
  /**
   * Reads a ledger that another process writes; commits are refused and nothing is created. In a place without write access, a closed
   * ledger is read without locks (Node 22.15 or newer), and refused with STORE_UNAVAILABLE once another process writes.
   * @default false
   */
  readonly readOnly?: boolean | undefined;
}

/** Default options. */
export const SQLITE_DEFAULTS: Defined<Omit<SqliteStoreOptions, "path">> = {
  synchronous: "full",
  busyTimeout: 5_000,
  cacheBytes: 64 * 1024 * 1024,
  readOnly: false,
};

/** Longest time that SQLite and the platform's timers accept, ms: 24 days. */
const MAX_TIMEOUT = 2 ** 31 - 1;

export const FILE_NAME: FieldRule = [isFileName, "the name of a file, or :memory:"];

const RULES: Readonly<Record<keyof SqliteStoreOptions, FieldRule>> = {
  path: FILE_NAME,
  synchronous: oneOf("full", "normal"),
  busyTimeout: between(0, MAX_TIMEOUT),
  cacheBytes: NOT_NEGATIVE,
  readOnly: SWITCH,
};

/** Options with every default filled in; `path` is absolute, or `:memory:`. */
export interface ResolvedOptions extends Defined<SqliteStoreOptions> {
  /** True for `:memory:`. */
  readonly inMemory: boolean;
}

/** @throws INVALID_ARGUMENT for an unknown option, or one outside its range */
export function resolveSqliteOptions(given: string | SqliteStoreOptions): ResolvedOptions {
  const named = typeof given === "string" ? { path: given } : given;
  const options = resolveOptions("sqliteStore()", named, SQLITE_DEFAULTS, RULES, ["path"]);
  const { path, readOnly } = options;
  const inMemory = path === ":memory:";
  if (inMemory && readOnly) {
    throw illegalOption("readOnly", "sqliteStore(): :memory: starts empty, so readOnly must be false", readOnly);
  }
  // Absolute, so that SQLite never takes a name for something else: "file:…" would be a URI, "" a temporary file.
  return { ...options, inMemory, path: inMemory ? path : fileAt(resolve(path)) };
}

/** The file that a symbolic link leads to, there or not: SQLite keeps the log beside it, and so must the mark be for all who open it. */
function fileAt(path: string): string {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path;
    return fileAt(resolve(realpathSync(dirname(path)), readlinkSync(path)));
  } catch {
    // A missing file, or an obstacle that opening it names.
    return path;
  }
}

function isFileName(path: unknown): path is string {
  return typeof path === "string" && path.trim() !== "" && !path.includes("\0");
}

/** @throws INVALID_ARGUMENT for a name that no copy can have; no option opens a file named `:memory:` */
export function assertCopyName(path: unknown): asserts path is string {
  if (isFileName(path) && path !== ":memory:") return;
  throw illegalOption("path", "The path of a copy must be the name of a file", path);
}
