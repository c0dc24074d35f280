import { nameToBytes } from "./name-bytes.js";

/** Bytes of a digest: the first half of a SHA-256. */
const DIGEST_BYTES = 16;
/** Two numbers and two lengths. */
const NUMBERS_BYTES = 24;
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

/** One state of a checkpoint in its place, names as bytes. */
export interface CheckpointColumns {
  readonly place: number;
  readonly scope: Uint8Array;
  readonly id: Uint8Array;
  readonly value: Uint8Array;
}

/** What is kept of an entry that was compacted away. */
export interface DroppedColumns {
  readonly seq: number;
  readonly key: Uint8Array;
  /** Of the payload that the key was used with. */
  readonly payloadDigest: Uint8Array;
}

/**
 * Digests of a ledger, 16 bytes each: H is SHA-256 cut to its first half. They prove that nothing was changed to whoever kept one
 * elsewhere; they are no signatures: who can write the ledger can write a new chain.
 */
export interface LedgerDigests {
  /** Of bytes that stand in no chain. */
  of(bytes: Uint8Array): Uint8Array;
  /**
   * What the chain of a namespace starts from: entries that were moved to a namespace of another name do not fit.
   *
   *     d_0 = H("qavr" ‖ name)
   */
  first(namespace: string): Uint8Array;
  /**
   * Of an entry in its place. A database notices damage to its own structures only: a flipped bit inside a value reads as another
   * value. Each digest covers the one before it, so the last one stands for the whole ledger, and an entry that is missing, repeated
   * or in another's place shows.
   *
   *     d_n = H(d_{n−1} ‖ seq ‖ at ‖ |key| ‖ |type| ‖ key ‖ type ‖ payload)
   *
   * Numbers are little-endian: `seq` and `at` as float64, lengths as uint32.
   */
  entry(before: Uint8Array, columns: EntryColumns): Uint8Array;
  /** Of the key of an entry that is gone, chained to its namespace alone: as of an entry without type and time. */
  dropped(namespace: string, columns: DroppedColumns): Uint8Array;
  /**
   * Of the states of a checkpoint, chained from the last dropped entry on: they belong to this place of this ledger.
   *
   * @param base place of that entry
   * @param baseDigest its digest
   */
  checkpoint(base: number, baseDigest: Uint8Array, states: Iterable<CheckpointColumns>): Uint8Array;
  /** Of a ledger of several namespaces, from the digests of their last entries in the order of their names. */
  all(namespaces: readonly Uint8Array[]): Uint8Array;
}

export function ledgerDigests(sha256: Sha256): LedgerDigests {
  const of = (bytes: Uint8Array): Uint8Array => sha256(bytes).subarray(0, DIGEST_BYTES);

  const first = (namespace: string): Uint8Array => of(joined([QAVR, nameToBytes(namespace)]));

  const entry = (before: Uint8Array, { seq, key, type, at, payload }: EntryColumns): Uint8Array => {
    const numbers = new DataView(new ArrayBuffer(NUMBERS_BYTES));
    numbers.setFloat64(0, seq, true);
    numbers.setFloat64(8, at, true);
    numbers.setUint32(16, key.length, true);
    numbers.setUint32(20, type.length, true);
    return of(joined([before, new Uint8Array(numbers.buffer), key, type, payload]));
  };

  return {
    of,
    first,
    entry,
    dropped: (namespace, { seq, key, payloadDigest }) =>
      entry(first(namespace), { seq, key, type: NOTHING, at: 0, payload: payloadDigest }),
    checkpoint(base, baseDigest, states) {
      let digest = baseDigest;
      for (const { place, scope, id, value } of states) {
        digest = entry(digest, { seq: place, key: id, type: scope, at: base, payload: value });
      }
      return digest;
    },
    all: (namespaces) => of(joined(namespaces)),
  };
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
