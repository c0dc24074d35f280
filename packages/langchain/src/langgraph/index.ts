export { QavrStore, type QavrStoreFields } from "./qavr-store.js";
export type { StoreOptions } from "./store-options.js";
