import type { Store } from "@qavr/core";
import { resolveStore } from "@qavr/core/adapter";

/** The store of a memory, with the packages that a path or a URL needs. @throws INVALID_ARGUMENT */
export function defaultStore(store: string | Store | undefined): Store {
  return resolveStore(store, {
    sqlite: () => import("@qavr/sqlite"),
    postgres: () => {
      // Not a literal: bundlers must not look for a package that most applications do not install.
      const name: string = ["@qavr", "postgres"].join("/");
      return import(name);
    },
  });
}
