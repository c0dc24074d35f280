import { QavrError } from "../errors/qavr-error.js";
import type { Store } from "../store/store.js";
import { lazyStore } from "./lazy-store.js";

/** Where the ledger is kept when nothing else is said. */
export const DEFAULT_STORE_PATH = ".qavr/ledger.db";

/** Environment variable that names the store for applications that name none: a path or a URL. */
export const STORE_VARIABLE = "QAVR_STORE";

/** Loads the package of a store. The adapter imports it, since core knows no package. */
export interface StoreLoaders {
  readonly sqlite: () => Promise<{ readonly sqliteStore: (path: string) => Store }>;
  readonly postgres: () => Promise<{ readonly postgresStore: (url: string) => Store }>;
}

/** Two letters or more: one is a drive. */
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]+:/i;
const POSTGRES_URL = /^postgres(ql)?:\/\//i;

/**
 * The store of a memory: the one given, or one named by a path (SQLite), a `postgres://` URL, the environment or the default
 * path. A named store is opened by its first use.
 *
 * @param environment What {@link STORE_VARIABLE} says; an empty one was never filled in.
 * @throws INVALID_ARGUMENT
 */
export function resolveStore(
  store: string | Store | undefined,
  environment: string | undefined,
  loaders: StoreLoaders,
): Store {
  if (typeof store === "object" && store !== null && typeof store.commit === "function") return store;
  if (store !== undefined && (typeof store !== "string" || store.trim() === "")) {
    const message = `store must be a path, a postgres:// URL or a Store. Received ${describe(store)}.`;
    throw new QavrError("INVALID_ARGUMENT", message, { details: { received: describe(store) } });
  }
  const location = (store ?? (environment || DEFAULT_STORE_PATH)).trim();
  refuseOtherUrl(location);
  return POSTGRES_URL.test(location) ? postgres(location, loaders) : sqlite(location, loaders);
}

/** A URL of another kind, or a path that only a shell understands, would become a folder of that name. */
function refuseOtherUrl(location: string): void {
  if (POSTGRES_URL.test(location)) return;
  const scheme = OTHER_SCHEME.exec(location)?.[0];
  if (scheme === undefined && !location.startsWith("~")) return;
  const hint = scheme === undefined ? "~ is not expanded" : "of URLs only postgres:// is known";
  throw new QavrError(
    "INVALID_ARGUMENT",
    `The store ${scheme ?? "~"}… is no path: ${hint}. Give the path of a file, a postgres:// URL or a Store.`,
    { details: { received: scheme ?? "~" } },
  );
}

function sqlite(path: string, loaders: StoreLoaders): Store {
  const durable = path !== ":memory:";
  return lazyStore({ name: "sqlite", capabilities: { durable, sharedBackend: durable } }, async () => {
    const { sqliteStore } = await loaded("@qavr/sqlite", loaders.sqlite);
    return sqliteStore(path);
  });
}

function postgres(url: string, loaders: StoreLoaders): Store {
  return lazyStore({ name: "postgres", capabilities: { durable: true, sharedBackend: true } }, async () => {
    const { postgresStore } = await loaded("@qavr/postgres", loaders.postgres);
    return postgresStore(url);
  });
}

async function loaded<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const message = `The package ${name} could not be loaded. Install it, or pass another store.`;
    throw new QavrError("STORE_UNAVAILABLE", message, { details: { package: name }, cause });
  }
}

function describe(value: unknown): string {
  return typeof value === "string" ? "an empty string" : value === null ? "null" : typeof value;
}
