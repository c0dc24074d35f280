import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import { BOUNDED, UNBOUNDED } from "../resilience/resilient-store.js";
import type { Store } from "../store/store.js";
import { processOf } from "./log-codes.js";

/** Path of the ledger when neither the application nor the environment names a store. */
export const DEFAULT_STORE_PATH = ".qavr/ledger.db";

/** Environment variable that names the store: a path or a URL. Applications that name a store override it. */
export const STORE_VARIABLE = "QAVR_STORE";

/** Environment variable that switches learning off, over any option: `1` or `true`. */
export const DISABLED_VARIABLE = "QAVR_DISABLED";

/** Loads the package of a store. Each adapter brings its own imports, since core depends on no package. */
export interface StoreLoaders {
  readonly sqlite: () => Promise<{ readonly sqliteStore: (path: string) => Store }>;
  readonly postgres: () => Promise<{ readonly postgresStore: (url: string) => Store }>;
}

/** A scheme of two letters or more: one letter is a Windows drive. */
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]+:/i;
const QUOTES = "its quotes are part of the value";
const POSTGRES_URL = /^postgres(ql)?:\/\//i;

/** The store that the environment names; undefined for none. */
export function storeInEnvironment(): string | undefined {
  return processOf(globalThis)?.env?.[STORE_VARIABLE] || undefined;
}

/** True unless the option or the environment switches learning off. */
export function isEnabled({ enabled = true }: { readonly enabled?: boolean | undefined }): boolean {
  const disabled = processOf(globalThis)?.env?.[DISABLED_VARIABLE]?.toLowerCase();
  return enabled && disabled !== "1" && disabled !== "true";
}

/**
 * The store of a memory: the one given, or one named by a path (SQLite), a `postgres://` URL, the environment or the default
 * path. A named store is opened by its first use.
 *
 * @throws INVALID_ARGUMENT
 */
export function resolveStore(store: string | Store | undefined, loaders: StoreLoaders): Store {
  if (typeof store === "object" && store !== null && typeof store.commit === "function") return store;
  if (store !== undefined && (typeof store !== "string" || store.trim() === "")) {
    throw illegalOption("store", "store must be a path, a postgres:// URL or a Store", store);
  }
  const location = locationOf(store);
  const durable = location !== ":memory:";
  const capabilities = { durable, sharedBackend: durable };
  return isPostgres(location)
    ? lazyStore({ name: "postgres", capabilities }, async () => {
        const { postgresStore } = await loaded("@qavr/postgres", loaders.postgres);
        return postgresStore(location);
      })
    : lazyStore({ name: "sqlite", capabilities }, async () => {
        const { sqliteStore } = await loaded("@qavr/sqlite", loaders.sqlite);
        return sqliteStore(location);
      });
}

export function isPostgres(location: string): boolean {
  return POSTGRES_URL.test(location);
}

/**
 * The path or URL of a named store.
 *
 * @throws INVALID_ARGUMENT for other URLs, paths of the shell and quotes that a file of the environment left, which would create a folder
 * of that name
 */
export function locationOf(store: string | undefined): string {
  const location = (store ?? storeInEnvironment() ?? DEFAULT_STORE_PATH).trim();
  const begin = OTHER_SCHEME.exec(location)?.[0] ?? /^[~"']/.exec(location)?.[0];
  if (begin === undefined || isPostgres(location)) return location;
  const hint = { "~": "~ is not expanded", '"': QUOTES, "'": QUOTES }[begin] ?? "of URLs only postgres:// is known";
  throw new QavrError(
    "INVALID_ARGUMENT",
    `The store ${begin}… is no path: ${hint}. Give the path of a file, a postgres:// URL or a Store.`,
    { details: { received: begin } },
  );
}

async function loaded<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw missingPackage(name, cause);
  }
}

export function missingPackage(name: string, cause: unknown): QavrError {
  const message = `The package ${name} could not be loaded. Install it, or pass another store.`;
  return new QavrError("STORE_UNAVAILABLE", message, { details: { package: name }, cause });
}

/**
 * A store that is opened by its first use, so that creating a memory touches no file and imports no driver. The next call
 * retries an opening that failed.
 *
 * @param identity Name and capabilities, which are known before the store is open.
 */
export function lazyStore(identity: Pick<Store, "name" | "capabilities">, open: () => Promise<Store>): Store {
  let opening: Promise<Store> | undefined;
  let store: Store | undefined;
  let closed = false;
  const opened = (): Promise<Store> => {
    if (closed) {
      const message = `The ${identity.name} store was closed before this call. Create a new memory.`;
      return Promise.reject(new QavrError("STORE_CLOSED", message));
    }
    opening ??= open().then(
      (ready) => {
        store = ready;
        return ready;
      },
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  const methods = [...BOUNDED, ...UNBOUNDED].map((name) => [
    name,
    async (...given: unknown[]) => {
      const ready = await opened();
      return (ready[name] as ((...given: unknown[]) => unknown) | undefined)?.apply(ready, given);
    },
  ]);
  return {
    ...identity,
    ...(Object.fromEntries(methods) as Store),
    // A store that is not open yet, or keeps no log of changes: every state may have changed since any cursor.
    changesSince: (namespace, cursor) => store?.changesSince?.(namespace, cursor) ?? { cursor: 0, written: undefined },
    async close() {
      if (closed) return;
      closed = true;
      // An unused store is not opened just to be closed.
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
