import { getEnvironmentVariable } from "@langchain/core/utils/env";
import { QavrError, type Store } from "@qavr/core";
import { lazyStore } from "./lazy-store.js";

/** Where the ledger is kept when nothing else is said. */
export const DEFAULT_STORE_PATH = ".qavr/ledger.db";

/** Environment variable that names the store for applications that name none: a path or a URL. */
export const STORE_VARIABLE = "QAVR_STORE";

const POSTGRES_URL = /^postgres(ql)?:\/\//i;

/**
 * The store of a memory: the one given, or one named by a path (SQLite), a `postgres://` URL, the environment variable
 * `QAVR_STORE` or the default path. A named store is opened by its first use.
 *
 * @throws INVALID_ARGUMENT
 */
export function resolveStore(store: string | Store | undefined): Store {
  if (typeof store === "object" && store !== null && typeof store.commit === "function") return store;
  if (store !== undefined && (typeof store !== "string" || store.trim() === "")) {
    const message = `store must be a path, a postgres:// URL or a Store. Received ${describe(store)}.`;
    throw new QavrError("INVALID_ARGUMENT", message, { details: { received: describe(store) } });
  }
  // An empty variable is one that was never filled in.
  const location = store ?? (getEnvironmentVariable(STORE_VARIABLE) || DEFAULT_STORE_PATH);
  return POSTGRES_URL.test(location) ? postgres(location) : sqlite(location);
}

function sqlite(path: string): Store {
  const durable = path !== ":memory:";
  return lazyStore({ name: "sqlite", capabilities: { durable, sharedBackend: durable } }, async () => {
    const { sqliteStore } = await loaded("@qavr/sqlite", () => import("@qavr/sqlite"));
    return sqliteStore(path);
  });
}

function postgres(url: string): Store {
  return lazyStore({ name: "postgres", capabilities: { durable: true, sharedBackend: true } }, async () => {
    // Not a literal: bundlers must not look for an optional peer that most applications do not install.
    const name: string = ["@qavr", "postgres"].join("/");
    const { postgresStore } = (await loaded(name, () => import(name))) as { postgresStore: (url: string) => Store };
    return postgresStore(url);
  });
}

async function loaded<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const message = `The package ${name} could not be loaded. Install it, or pass another store to qavr({ store }).`;
    throw new QavrError("STORE_UNAVAILABLE", message, { details: { package: name }, cause });
  }
}

function describe(value: unknown): string {
  return typeof value === "string" ? "an empty string" : value === null ? "null" : typeof value;
}
