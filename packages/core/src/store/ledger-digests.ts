import { nameToBytes } from "./validate.js";

/** Bytes of a digest: the first half of a SHA-256. */
const DIGEST_BYTES = 16;
/** Sum of no digests. */
export const NO_DIGESTS: Uint8Array = new Uint8Array(DIGEST_BYTES);
/** Two numbers and two lengths. */
const NUMBERS_BYTES = 24;
/** Memory reused for entries of the usual size; new memory for each would cost as much as its hash. */
const SCRATCH_BYTES = 16_384;
const NOTHING = new Uint8Array();
/** "qavr" in ASCII. */
const QAVR = Uint8Array.of(0x71, 0x61, 0x76, 0x72);

/** SHA-256 of some bytes, 32 bytes. The platform's own: this package has none. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** The columns of an entry that its digest covers, names as bytes. */
export interface EntryColumns {
  readonly seq: number;
  readonly key: Uint8Array;
  readonly type: Uint8Array;
  readonly at: number;
  readonly payload: Uint8Array;
}

/** One state of a checkpoint, names as bytes. */
export interface CheckpointColumns {
  readonly scope: Uint8Array;
  readonly id: Uint8Array;
  readonly value: Uint8Array;
}

/** Columns kept of a compacted entry. */
export interface DroppedColumns {
  readonly seq: number;
  readonly key: Uint8Array;
  /** Digest of the entry's payload. */
  readonly payloadDigest: Uint8Array;
}

/**
 * Digests of a ledger, 16 bytes each: H is SHA-256 cut to its first half. A digest kept elsewhere proves that the ledger is unchanged.
 * They are no signatures: a writer of the ledger can write a new chain.
 */
export interface LedgerDigests {
  /** Digest of bytes outside a chain. */
  of(bytes: Uint8Array): Uint8Array;
  /**
   * Start of a namespace's chain; entries moved to a namespace of another name do not fit it.
   *
   *     d_0 = H("qavr" ‖ name)
   */
  first(namespace: string): Uint8Array;
  /**
   * Digest of an entry in its place. A database notices damage to its own structures only: a flipped bit inside a value reads as
   * another value. Each digest covers the one before it, so the last one stands for the whole ledger; a missing, repeated or moved
   * entry breaks the chain.
   *
   *     d_n = H(d_{n−1} ‖ seq ‖ at ‖ |key| ‖ |type| ‖ key ‖ type ‖ payload)
   *
   * Numbers are little-endian: `seq` and `at` as float64, lengths as uint32.
   */
  entry(before: Uint8Array, columns: EntryColumns): Uint8Array;
  /** Digest of a compacted entry's key, chained to its namespace alone: that of an entry without type and time. */
  dropped(namespace: string, columns: DroppedColumns): Uint8Array;
  /** Digest of one state of a checkpoint, chained to its namespace alone. That of the checkpoint is the sum of all ({@link withDigest}). */
  kept(namespace: string, state: CheckpointColumns): Uint8Array;
  /** Digest of several namespaces, from the digests of their last entries in the order of their names. */
  all(namespaces: readonly Uint8Array[]): Uint8Array;
}

export function ledgerDigests(sha256: Sha256): LedgerDigests {
  const scratch = bufferOf(SCRATCH_BYTES);
  const of = (bytes: Uint8Array): Uint8Array => sha256(bytes).subarray(0, DIGEST_BYTES);

  const first = (namespace: string): Uint8Array => of(joined([QAVR, nameToBytes(namespace)]));

  const entry = (before: Uint8Array, { seq, key, type, at, payload }: EntryColumns): Uint8Array => {
    const start = before.length + NUMBERS_BYTES;
    const length = start + key.length + type.length + payload.length;
    const [bytes, numbers] = length <= SCRATCH_BYTES ? scratch : bufferOf(length);
    numbers.setFloat64(before.length, seq, true);
    numbers.setFloat64(before.length + 8, at, true);
    numbers.setUint32(before.length + 16, key.length, true);
    numbers.setUint32(before.length + 20, type.length, true);
    bytes.set(before);
    bytes.set(key, start);
    bytes.set(type, start + key.length);
    bytes.set(payload, start + key.length + type.length);
    return of(bytes.subarray(0, length));
  };

  return {
    of,
    first,
    entry,
    dropped: (namespace, { seq, key, payloadDigest }) =>
      entry(first(namespace), { seq, key, type: NOTHING, at: 0, payload: payloadDigest }),
    kept: (namespace, { scope, id, value }) =>
      entry(first(namespace), { seq: 0, key: id, type: scope, at: 0, payload: value }),
    all: (namespaces) => of(joined(namespaces)),
  };
}

/**
 * Adds a digest to a sum of digests, or takes it out again: each byte exclusive-or the other. A sum depends on no order, so that a change
 * of some states costs no reading of the others.
 */
export function withDigest(sum: Uint8Array, digest: Uint8Array): Uint8Array {
  return sum.map((byte, place) => byte ^ (digest[place] as number));
}

/** Memory as bytes and as numbers. */
function bufferOf(length: number): readonly [Uint8Array, DataView] {
  const bytes = new Uint8Array(length);
  return [bytes, new DataView(bytes.buffer)];
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}
