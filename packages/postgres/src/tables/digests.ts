import { hash } from "node:crypto";
import { type LedgerDigests, ledgerDigests } from "@qavr/core";

/** The digests of a ledger, by Node's own SHA-256. */
export const digests: LedgerDigests = ledgerDigests((bytes) => hash("sha256", bytes, "buffer"));
