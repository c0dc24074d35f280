import type { Learner } from "../learners/learner.js";
import { Draft, encodeRecords, type Records } from "../ledger/draft.js";
import { type EpisodeRecord, encodeEpisode } from "../ledger/episode-record.js";
import type { SharedRecord } from "../ledger/shared-record.js";
import { episodeRef, SCOPES } from "../ledger/state-keys.js";
import { readable } from "../ledger/unreadable.js";
import type { StateRef, StoredState } from "../store/store.js";

/** Number of records that stay decoded from entry to entry: those of episodes only until their first outcome. */
export function keptIn({ collections, memories, episodes }: Records): number {
  let kept = collections.size + episodes.size;
  for (const { size } of memories.values()) kept += size;
  return kept;
}

/** The bytes of all kept records. */
export function* encodeKept(learner: Learner, records: Records): Generator<StoredState> {
  yield* encodeRecords(learner, records);
  for (const [id, record] of records.episodes) yield { ...episodeRef(id), value: encodeEpisode(record) };
}

/**
 * A draft that keeps records decoded for later entries, in place of writes. These find what would be read from the records' bytes: learned
 * states pass their codec, which may round.
 */
export class KeepingDraft extends Draft {
  readonly #loaded: StateRef[] = [];

  override keepEpisode(id: string, record: EpisodeRecord): void {
    if (hasOutcome(record)) super.keepEpisode(id, record);
    else this.records.episodes.set(id, record);
  }

  protected override has(ref: StateRef): boolean {
    if (ref.scope === SCOPES.shared || ref.scope === SCOPES.episode) this.#loaded.push(ref);
    return super.has(ref);
  }

  protected override writeRecords(): void {
    const { collections, episodes } = this.records;
    for (const record of this.loadedMemories.keys()) record.readAgain();
    for (const { scope, id } of this.#loaded) {
      const collection = scope === SCOPES.shared ? collections.get(id) : undefined;
      if (collection) this.#readAgain(collection);
      const episode = scope === SCOPES.episode ? episodes.get(id) : undefined;
      if (episode && hasOutcome(episode)) episodes.delete(id);
    }
  }

  #readAgain(record: SharedRecord): void {
    const { shared } = this.learner;
    const bytes = shared.encode(record.state, 0);
    record.state = bytes.length === 0 ? shared.empty() : readable(() => shared.decode(bytes));
  }
}

function hasOutcome({ reward, used, votes, audits, claims }: EpisodeRecord): boolean {
  return reward !== undefined || used !== undefined || votes.length + audits.length + claims.length > 0;
}
