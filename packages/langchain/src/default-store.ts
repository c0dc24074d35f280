import { getEnvironmentVariable } from "@langchain/core/utils/env";
import type { Store } from "@qavr/core";
import { resolveStore, STORE_VARIABLE, type StoreLoaders } from "@qavr/core/adapter";

const LOADERS: StoreLoaders = {
  sqlite: () => import("@qavr/sqlite"),
  postgres: () => {
    // Not a literal: bundlers must not look for a package that most applications do not install.
    const name: string = ["@qavr", "postgres"].join("/");
    return import(name);
  },
};

/**
 * The store of a memory: the one given, or one named by a path (SQLite), a `postgres://` URL, the environment variable
 * `QAVR_STORE` or the default path. A named store is opened by its first use.
 *
 * @throws INVALID_ARGUMENT
 */
export function defaultStore(store: string | Store | undefined): Store {
  return resolveStore(store, getEnvironmentVariable(STORE_VARIABLE), LOADERS);
}
