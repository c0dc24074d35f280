import { QavrError } from "../errors/qavr-error.js";
import type { Store } from "../store/store.js";
import { nodeProcess } from "./log-codes.js";
import { isPostgres, locationOf, missingPackage } from "./named-store.js";

/** The parts of Node's modules that the checks use. */
interface Builtins {
  readonly "node:fs": {
    statSync(path: string, options: { readonly throwIfNoEntry: false }): { isDirectory(): boolean } | undefined;
    accessSync(path: string, mode: number): void;
    readonly constants: { readonly W_OK: number };
  };
  readonly "node:path": { resolve(path: string): string; dirname(path: string): string };
  readonly "node:module": {
    isBuiltin(name: string): boolean;
    createRequire(from: string): { resolve(name: string): string };
  };
  readonly "node:sqlite": object;
}

/**
 * The reason why a named store cannot be opened, found without opening it: a runtime without `node:sqlite`, a folder that
 * cannot be written, a package that is not installed. Touches no file. Undefined for a store object, or if no reason is found.
 *
 * @param from URL of the adapter's module: the place from which its packages are found
 */
export function storeProblem(store: string | Store | undefined, from: string): QavrError | undefined {
  if (typeof store === "object") return undefined;
  const location = locationOf(store);
  if (isPostgres(location)) return packageProblem("@qavr/postgres", from);
  return sqliteProblem() ?? (location === ":memory:" ? undefined : fileProblem(location));
}

/** A module of Node; undefined on runtimes without it. */
function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  return nodeProcess()?.getBuiltinModule?.(name) as Builtins[Name] | undefined;
}

function sqliteProblem(): QavrError | undefined {
  // Asked by name first: loading the module prints a warning on Node 22.
  if (builtin("node:module")?.isBuiltin("node:sqlite") || builtin("node:sqlite")) return undefined;
  const version = nodeProcess()?.version;
  const runtime = version === undefined ? "This runtime" : `Node ${version}`;
  return new QavrError(
    "STORE_UNAVAILABLE",
    `${runtime} has no node:sqlite, which the default store needs. Use Node 22.13 or newer, or pass another store.`,
    { details: version === undefined ? {} : { node: version } },
  );
}

function fileProblem(location: string): QavrError | undefined {
  const fs = builtin("node:fs");
  const path = builtin("node:path");
  if (!fs || !path) return undefined;
  const file = path.resolve(location);
  const statOf = (place: string) => fs.statSync(place, { throwIfNoEntry: false });
  try {
    if (statOf(file)?.isDirectory()) return unwritable(location, "is a folder");
    // A missing folder is created with the ledger, in the nearest one that exists.
    let folder = path.dirname(file);
    let found = statOf(folder);
    while (!found) {
      folder = path.dirname(folder);
      found = statOf(folder);
    }
    if (!found.isDirectory()) return unwritable(location, "lies under a file");
    fs.accessSync(folder, fs.constants.W_OK);
  } catch (cause) {
    return unwritable(location, "cannot be written", cause);
  }
  return undefined;
}

function unwritable(path: string, reason: string, cause?: unknown): QavrError {
  const message = `The ledger ${path} ${reason}. Name a file in a folder that this process may write, or pass another store.`;
  return new QavrError("STORE_UNWRITABLE", message, { details: { path }, cause });
}

function packageProblem(name: string, from: string): QavrError | undefined {
  // In a bundle the adapter's module has the address of the machine that made the bundle; the working folder is beside the packages.
  const missing = [from, builtin("node:path")?.resolve("bundle.js") ?? from].map((place) => missingFrom(place, name));
  return missing.every((cause) => cause !== undefined) ? missingPackage(name, missing[0]) : undefined;
}

/** The error of a package that is not found; undefined also for other failures, which may be those of this check alone. */
function missingFrom(place: string, name: string): unknown {
  try {
    builtin("node:module")?.createRequire(place).resolve(name);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "MODULE_NOT_FOUND") return error;
  }
  return undefined;
}
