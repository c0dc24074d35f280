import type { QavrError } from "../errors/qavr-error.js";
import {
  type CheckpointColumns,
  type DroppedColumns,
  type EntryColumns,
  type LedgerDigests,
  NO_DIGESTS,
  withDigest,
} from "./ledger-digests.js";
import type { LedgerDamage, SequencedEntry, StoredState } from "./store.js";
import { bytesToName, nameToBytes, sameBytes } from "./validate.js";

/** Both ends of a namespace's ledger, as its store keeps them. */
export interface LedgerEnds {
  readonly namespace: string;
  readonly head: number;
  /** Digest of the entry at the head. */
  readonly digest: Uint8Array;
  /** Place of the last compacted entry, 0 for a whole ledger; the chain continues from there. */
  readonly base: number;
  readonly baseDigest: Uint8Array;
  /** Sum of the digests of the states at the base; without meaning for a whole ledger. */
  readonly checkpointDigest: Uint8Array;
}

/** An entry with the digest that it was written with. */
export interface ChainedEntry extends EntryColumns {
  readonly digest: Uint8Array;
}

/** The key of a compacted entry with the digest that it was written with. */
export interface ChainedKey extends DroppedColumns {
  readonly digest: Uint8Array;
}

/** Checks the ledger of one namespace, row by row. Nothing is checked beyond the first break of the chain. */
export class NamespaceCheck {
  /** Number of intact entries. */
  entries = 0;
  readonly #ends: LedgerEnds;
  readonly #digests: LedgerDigests;
  #last: { readonly seq: number; readonly digest: Uint8Array };
  #broken: LedgerDamage | undefined;
  #keys = 0;
  #damagedKey: number | undefined;

  constructor(ends: LedgerEnds, digests: LedgerDigests) {
    const { namespace, base, baseDigest } = ends;
    this.#ends = ends;
    this.#digests = digests;
    this.#last = { seq: base, digest: baseDigest };
    if (base === 0 && !sameBytes(baseDigest, digests.first(namespace))) {
      this.#break("the ledger's first digest is not that of its namespace");
    }
  }

  /** Takes the next entry after the base. Returns false once the chain is broken. */
  entry(row: ChainedEntry): boolean {
    if (this.#broken) return false;
    if (row.seq !== this.#last.seq + 1) return this.#break(`the next entry has the place ${row.seq}`);
    if (!sameBytes(this.#digests.entry(this.#last.digest, row), row.digest)) {
      return this.#break("the entry does not fit its digest");
    }
    this.entries += 1;
    this.#last = row;
    return true;
  }

  /** Damage of the chain, after its last entry was taken. */
  chain(): readonly LedgerDamage[] {
    const { head, digest } = this.#ends;
    if (!this.#broken && this.#last.seq !== head) this.#break(`the ledger ends before its head, ${head}`);
    if (!this.#broken && !sameBytes(this.#last.digest, digest)) {
      this.#break("the last entry is not the one that the namespace names");
    }
    return this.#broken ? [this.#broken] : [];
  }

  /** Takes the key of a compacted entry, in any order. */
  key(row: ChainedKey): void {
    this.#keys += 1;
    if (!sameBytes(this.#digests.dropped(this.#ends.namespace, row), row.digest)) this.#damagedKey ??= row.seq;
  }

  /**
   * Damage of the checkpoint, after its last key was taken.
   *
   * @param states as {@link checkpointStates} returns them
   */
  checkpoint(states: readonly StoredState[] | undefined): readonly LedgerDamage[] {
    const { namespace, base } = this.#ends;
    const damage: LedgerDamage[] = [];
    if (!states) damage.push({ namespace, seq: base, problem: "the states of the checkpoint do not fit their digest" });
    if (this.#damagedKey !== undefined) {
      damage.push({ namespace, seq: this.#damagedKey, problem: "the key of a compacted entry is damaged" });
    } else if (this.#keys !== base) {
      damage.push({ namespace, problem: `${base - this.#keys} keys of compacted entries are missing` });
    }
    return damage;
  }

  #break(problem: string): false {
    this.#broken = { namespace: this.#ends.namespace, seq: this.#last.seq + 1, problem };
    return false;
  }
}

/** The last entry of a namespace that is there, whatever its row says. */
export interface LastEntry {
  readonly seq: number;
  readonly digest: Uint8Array;
}

/**
 * True when a namespace's row names its last entry, by place and digest. Nothing may be appended otherwise: it would continue a chain that
 * is not there.
 *
 * @param last undefined for a ledger without entries; of a compacted one the last entry after its base
 */
export function namesLastEntry(
  { head, digest, base, baseDigest }: Omit<LedgerEnds, "namespace" | "checkpointDigest">,
  last: LastEntry | undefined,
): boolean {
  const end = last && last.seq > base ? last : { seq: base, digest: baseDigest };
  return end.seq === head && sameBytes(end.digest, digest);
}

/** Bytes of a digest that damage to a row may have changed; another digest differs in nearly all. */
const DAMAGED_BYTES = 2;

/**
 * True when a row that does not name the last entry is damaged itself, so that it may be set to that entry: place or digest are right, and
 * the digest differs in few bytes. Else entries are missing.
 */
export function isDamagedEnd({ head, digest }: Pick<LedgerEnds, "head" | "digest">, last: LastEntry): boolean {
  if (digest.length !== last.digest.length) return false;
  const differing = digest.filter((byte, place) => byte !== last.digest[place]).length;
  return differing === 0 || (head === last.seq && differing <= DAMAGED_BYTES);
}

/** Chains entries that are appended after the one with the digest `before`. */
export function chainOn(
  before: Uint8Array,
  entries: readonly SequencedEntry[],
  digests: LedgerDigests,
): readonly ChainedEntry[] {
  let digest = before;
  return entries.map(({ seq, key, type, at, payload }) => {
    const columns = { seq, key: nameToBytes(key), type: nameToBytes(type), at, payload };
    digest = digests.entry(digest, columns);
    return { ...columns, digest };
  });
}

/**
 * Returns entries as they were written, each checked against its digest.
 *
 * @param before place and digest of the entry before the first one
 * @param through place of the last entry that must be among them, so that missing last entries are noticed
 * @param corrupt makes the error for an entry that is missing or does not follow from the one before it
 */
export function chainedEntries(
  rows: readonly ChainedEntry[],
  before: { readonly seq: number; readonly digest: Uint8Array },
  through: number,
  digests: LedgerDigests,
  corrupt: (seq: number) => QavrError,
): SequencedEntry[] {
  let last = before;
  const found = rows.map((row) => {
    const { seq, key, type, at, payload } = row;
    if (seq !== last.seq + 1 || !sameBytes(digests.entry(last.digest, row), row.digest)) throw corrupt(seq);
    last = row;
    return { key: bytesToName(key), type: bytesToName(type), at, payload, seq };
  });
  if (last.seq < through) throw corrupt(last.seq + 1);
  return found;
}

/** The states of a checkpoint from its rows; undefined when they do not fit their digest, none for a whole ledger. */
export function checkpointStates(
  rows: readonly CheckpointColumns[],
  { namespace, base, checkpointDigest }: LedgerEnds,
  digests: LedgerDigests,
): readonly StoredState[] | undefined {
  if (base === 0) return [];
  const sum = rows.reduce((digest, row) => withDigest(digest, digests.kept(namespace, row)), NO_DIGESTS);
  if (!sameBytes(sum, checkpointDigest)) return undefined;
  return rows.map(({ scope, id, value }) => ({ scope: bytesToName(scope), id: bytesToName(id), value }));
}
