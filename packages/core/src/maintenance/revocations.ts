import { decodeEvent } from "../ledger/event-codec.js";
import type { RevokeEvent } from "../ledger/events.js";
import type { SequencedEntry } from "../store/store.js";

/** A revocation and its place in the ledger; `Infinity` for one that is only planned. */
export interface Revocation {
  readonly event: RevokeEvent;
  readonly seq: number;
}

/** Outcomes that a revocation took out and that no earlier one had. */
export interface Revoked {
  outcomes: number;
  readonly episodes: Set<string>;
}

/**
 * The outcomes that do not count. A revocation takes out outcomes before it in the ledger, and none after it.
 */
export class Revocations {
  /** Earliest first: an outcome that two of them describe was taken out by the earlier. */
  #known: readonly (Revocation & { readonly revoked: Revoked })[] = [];

  has(seq: number): boolean {
    return this.#known.some((known) => known.seq === seq);
  }

  /** Adds revocations, and resets the set of revoked outcomes. */
  add(revocations: readonly Revocation[]): void {
    this.#known = [...this.#known, ...revocations]
      .sort((a, b) => a.seq - b.seq)
      .map(({ event, seq }) => ({ event, seq, revoked: { outcomes: 0, episodes: new Set() } }));
  }

  /** The outcomes that the revocation at `seq` took out of the entries seen. */
  revokedBy(seq: number): Revoked | undefined {
    return this.#known.find((known) => known.seq === seq)?.revoked;
  }

  /** True for an outcome that was revoked after it was recorded. */
  takesOut(entry: SequencedEntry): boolean {
    if (this.#known.length === 0 || entry.type !== "outcome") return false;
    const outcome = decodeEvent(entry.type, entry.payload);
    if (outcome.type !== "outcome") return false;
    for (const { event, seq, revoked } of this.#known) {
      if (entry.seq >= seq || !covers(event, entry, outcome.source)) continue;
      revoked.outcomes += 1;
      revoked.episodes.add(outcome.episode);
      return true;
    }
    return false;
  }
}

/** True when a revocation describes this outcome, whichever of the two came first. */
export function covers(event: RevokeEvent, { at, seq }: Pick<SequencedEntry, "at" | "seq">, source: string): boolean {
  return (
    (event.source === undefined || event.source === source) &&
    event.from <= at &&
    at <= event.to &&
    event.fromSeq <= seq &&
    seq <= event.toSeq
  );
}
