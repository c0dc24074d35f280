import type { QavrError } from "../errors/qavr-error.js";
import type { EntryColumns, LedgerDigests } from "./ledger-digests.js";
import { bytesToName, nameToBytes } from "./name-bytes.js";
import type { LedgerDamage, SequencedEntry } from "./store.js";
import { sameBytes } from "./validate.js";

/** Where the chain of a namespace begins and ends, as its store has noted. */
export interface ChainEnds {
  readonly namespace: string;
  readonly head: number;
  /** Of the entry at the head. */
  readonly digest: Uint8Array;
  /** Place of the last entry that was compacted away, 0 for a whole ledger; the chain goes on from there. */
  readonly base: number;
  readonly baseDigest: Uint8Array;
}

/** An entry with the digest that it was written with. */
export interface ChainedEntry extends EntryColumns {
  readonly digest: Uint8Array;
}

/** Follows the chain of one namespace, entry by entry. Where it breaks nothing that comes later can be told. */
export class ChainCheck {
  /** Entries that were found as they were written. */
  entries = 0;
  readonly #ends: ChainEnds;
  readonly #digests: LedgerDigests;
  #last: { readonly seq: number; readonly digest: Uint8Array };
  #damage: LedgerDamage | undefined;

  constructor(ends: ChainEnds, digests: LedgerDigests) {
    const { namespace, base, baseDigest } = ends;
    this.#ends = ends;
    this.#digests = digests;
    this.#last = { seq: base, digest: baseDigest };
    if (base === 0 && !sameBytes(baseDigest, digests.first(namespace))) {
      this.#found("the ledger's first digest is not that of its namespace");
    }
  }

  /** Takes the next entry. False when the chain is broken: there is no need to go on. */
  next(entry: ChainedEntry): boolean {
    if (this.#damage) return false;
    if (entry.seq !== this.#last.seq + 1) return this.#found(`the next entry has the place ${entry.seq}`);
    if (!sameBytes(this.#digests.entry(this.#last.digest, entry), entry.digest)) {
      return this.#found("the entry does not fit its digest");
    }
    this.entries += 1;
    this.#last = entry;
    return true;
  }

  /** Takes note that there are no more entries, and returns what is wrong with the chain, if anything is. */
  end(): LedgerDamage | undefined {
    const { head, digest } = this.#ends;
    if (!this.#damage && this.#last.seq !== head) this.#found(`the ledger ends before its head, ${head}`);
    if (!this.#damage && !sameBytes(this.#last.digest, digest)) {
      this.#found("the last entry is not the one that the namespace names");
    }
    return this.#damage;
  }

  #found(problem: string): false {
    this.#damage = { namespace: this.#ends.namespace, seq: this.#last.seq + 1, problem };
    return false;
  }
}

/** Entries that are appended after the one with the digest `before`, names as bytes, each with its own digest. */
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
 * Entries of a ledger as their readers get them, each held against its digest.
 *
 * @param before place and digest of the entry before the first one
 * @param through place of the last one that must be among them: a ledger that lacks its last entries has not ended there
 * @param corrupt makes the error for an entry that does not follow from the one before it, or is gone
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
