import { hash } from "node:crypto";
import { nameToBytes } from "@qavr/core";

/** Bytes of a digest: the first half of a SHA-256. */
const DIGEST_BYTES = 16;

/** The columns of an entry that its digest or checksum covers. */
export interface EntryColumns {
  readonly seq: number;
  readonly key: Uint8Array;
  readonly type: Uint8Array;
  readonly at: number;
  readonly payload: Uint8Array;
}

/**
 * What the chain of a namespace starts from: entries that were moved to a namespace of another name do not fit.
 *
 *     d_0 = H("qavr" ‖ name)
 */
export function firstDigest(namespace: string): Uint8Array {
  return digestOf(Buffer.concat([Buffer.from("qavr"), nameToBytes(namespace)]));
}

/**
 * Digest of an entry in its place. SQLite notices damage to its own structures only: a flipped bit inside a value reads as another
 * value. Each digest covers the one before it, so the last one stands for the whole ledger, and an entry that is missing, repeated
 * or in another's place shows.
 *
 *     d_n = H(d_{n−1} ‖ seq ‖ at ‖ |key| ‖ |type| ‖ key ‖ type ‖ payload)
 *
 * H is SHA-256 cut to 16 bytes. It proves that nothing was changed to whoever kept a digest elsewhere; it is no signature: who can
 * write the file can write a new chain.
 */
export function entryDigest(before: Uint8Array, { seq, key, type, at, payload }: EntryColumns): Uint8Array {
  const bytes = Buffer.allocUnsafe(DIGEST_BYTES + 24 + key.length + type.length + payload.length);
  bytes.set(before, 0);
  bytes.writeDoubleLE(seq, DIGEST_BYTES);
  bytes.writeDoubleLE(at, DIGEST_BYTES + 8);
  bytes.writeUInt32LE(key.length, DIGEST_BYTES + 16);
  bytes.writeUInt32LE(type.length, DIGEST_BYTES + 20);
  let end = DIGEST_BYTES + 24;
  for (const part of [key, type, payload]) {
    bytes.set(part, end);
    end += part.length;
  }
  return digestOf(bytes);
}

/** Digest of bytes that stand in no chain. */
export function digestOf(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer").subarray(0, DIGEST_BYTES);
}
