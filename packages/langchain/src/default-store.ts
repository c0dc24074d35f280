import type { QavrError, Store } from "@qavr/core";
import { resolveStore, storeProblem } from "@qavr/core/adapter";

/** Not a literal, and marked below: bundlers must not look for a package that most applications do not install. */
const POSTGRES = ["@qavr", "postgres"].join("/");

/** The store of a memory, with the packages that a path or a URL needs. @throws INVALID_ARGUMENT */
export function defaultStore(store: string | Store | undefined): Store {
  return resolveStore(store, {
    sqlite: () => import("@qavr/sqlite"),
    postgres: () => import(/* webpackIgnore: true */ /* @vite-ignore */ POSTGRES),
  });
}

/** The reason why that store cannot be opened, as far as it shows without opening it. */
export function defaultStoreProblem(store: string | Store | undefined): QavrError | undefined {
  return storeProblem(store, import.meta.url);
}
