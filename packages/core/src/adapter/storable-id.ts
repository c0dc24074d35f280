import { STORE_LIMITS } from "../store/store.js";

/**
 * The id itself, or its hash when a ledger could not keep it: too long, or with lone surrogates.
 *
 * @param hash From a text to a short name for it; the framework's or the platform's SHA-256.
 */
export function storableId(id: string, hash: (text: string) => string): string {
  return id.length <= STORE_LIMITS.nameLength && id.isWellFormed() ? id : `id:${hash(id)}`;
}
