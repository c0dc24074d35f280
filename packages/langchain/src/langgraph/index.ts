export { taskOf } from "../runs/run-scope.js";
export { QavrStore, type QavrStoreFields } from "./qavr-store.js";
export type { SearchRuntime, StoreSearchOptions } from "./search-store.js";
export type { StoreOptions } from "./store-options.js";
export type { FoundItem, GivenStore, StoredItem } from "./stored-item.js";
