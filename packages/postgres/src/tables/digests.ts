import { createHash, hash } from "node:crypto";
import { type LedgerDigests, ledgerDigests, nameToBytes } from "@qavr/core/store";

/** The digests of a ledger, by Node's own SHA-256. */
export const digests: LedgerDigests = ledgerDigests((bytes) => Buffer.from(hash("sha256", bytes, "binary"), "binary"));

/**
 * A name as the first 16 bytes of its SHA-256, written as a UUID: rows are keyed and distributed by it. Short, while a name may fill an
 * index page; known without a question to the server, unlike a number from a sequence.
 */
export function nameId(name: string): string {
  const hex = createHash("sha256").update(nameToBytes(name)).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
