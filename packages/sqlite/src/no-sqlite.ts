import { QavrError } from "@qavr/core";

/**
 * Stands in for this package in bundles for browsers and edge runtimes, which have no files: adapters that import the default store
 * can be bundled there.
 *
 * @throws STORE_UNAVAILABLE always
 */
export function sqliteStore(): never {
  throw new QavrError(
    "STORE_UNAVAILABLE",
    "This bundle is for a runtime without files, so it has no SQLite. Pass a store of your own, such as store: memoryStore() of @qavr/core.",
  );
}
