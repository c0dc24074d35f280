import type { EngineParts } from "../engine/parts.js";
import { decodeEpisode } from "../ledger/episode-record.js";
import { decodeEvent } from "../ledger/event-codec.js";
import type { RevokeEvent } from "../ledger/events.js";
import { MAINTENANCE_EVENTS } from "../ledger/maintenance-events.js";
import { collectionOf, memoryRef, rebuildRef, SCOPES } from "../ledger/state-keys.js";
import { DAMAGED_STATE } from "../store/damaged.js";
import { stateAddress } from "../store/state-address.js";
import type { Reduce, SequencedEntry, StateRef } from "../store/store.js";
import { type OnStates, StateOverlay } from "../store/write-overlay.js";
import { entryOf, reducerOf } from "./commit-event.js";
import type { Progress } from "./progress.js";
import { covers } from "./revocations.js";

/** Memories that are quarantined at once: writers wait meanwhile, some ten milliseconds. */
export const TOGETHER = 500;
const PAGE = 500;

type Parts = Pick<EngineParts, "store" | "learner" | "governance" | "now">;

/** Finds the memories that a revocation's outcomes speak about: those of their episodes. */
export class TouchedMemories {
  readonly #store: EngineParts["store"];
  readonly #namespace: string;
  readonly #event: RevokeEvent;
  readonly #episodes = new Set<string>();
  readonly #memories = new Set<string>();
  #last: number;

  constructor({ store }: Parts, namespace: string, event: RevokeEvent) {
    this.#store = store;
    this.#namespace = namespace;
    this.#event = event;
    this.#last = event.fromSeq - 1;
  }

  /** The memories that entries up to `through` name and that no earlier call has returned. */
  async upTo(through: number, progress?: Progress): Promise<readonly StateRef[]> {
    const episodes = [...(await this.#episodesUpTo(through, progress))];
    const found: StateRef[] = [];
    for (let start = 0; start < episodes.length; start += PAGE) {
      const ids = episodes.slice(start, start + PAGE);
      for (const bytes of await this.#store.readStates(this.#namespace, SCOPES.episode, ids)) {
        // A record that is lost or damaged names no memory; the rebuild brings it back.
        if (!bytes || bytes === DAMAGED_STATE) continue;
        for (const { collection, items } of decodeEpisode(bytes).exposures) {
          for (const { id } of items) if (this.#isNew(memoryRef(collection, id))) found.push(memoryRef(collection, id));
        }
      }
    }
    return found;
  }

  #isNew(memory: StateRef): boolean {
    const before = this.#memories.size;
    return this.#memories.add(stateAddress(memory)).size > before;
  }

  /** The episodes that entries up to `through` give revoked outcomes to, and those known that they show more memories in. */
  async #episodesUpTo(through: number, progress: Progress | undefined): Promise<ReadonlySet<string>> {
    const shownMore: string[] = [];
    let revoked: { readonly episode: string; readonly source: string; readonly seq: number; readonly at: number }[] =
      [];
    while (this.#last < through) {
      const page = await this.#store.readEntries(this.#namespace, { after: this.#last, limit: PAGE });
      if (page.length === 0) break;
      for (const { type, payload, seq, at } of page) {
        // After a compaction the first entry may be a later one.
        this.#last = Math.min(seq, through);
        if (seq > through) break;
        const isRead = type === "outcome" || type === "revoke" || (type === "exposure" && this.#episodes.size > 0);
        if (!isRead) continue;
        const event = decodeEvent(type, payload, MAINTENANCE_EVENTS);
        if (event.type === "exposure" && this.#episodes.has(event.episode)) shownMore.push(event.episode);
        if (event.type === "outcome" && covers(this.#event, { seq, at }, event.source)) {
          revoked.push({ episode: event.episode, source: event.source, seq, at });
        }
        // An earlier revocation has taken out the same outcomes.
        if (event.type === "revoke") revoked = revoked.filter((outcome) => !covers(event, outcome, outcome.source));
      }
      progress?.(this.#last, through);
    }
    for (const { episode } of revoked) this.#episodes.add(episode);
    return new Set([...shownMore, ...revoked.map(({ episode }) => episode)]);
  }
}

/** Reduces an entry, and makes memories unknown in the same commit. Only states change: no replay sees it. */
export function quarantining(reduce: Reduce, memories: readonly StateRef[]): Reduce {
  return function* (entry) {
    const states = new StateOverlay();
    yield* states.reduce(entry, reduce);
    yield* makeUnknown(states, entry, memories, reduce);
    return [...states.writes()];
  };
}

/** Makes memories unknown, a few at a time, unless the states have been rebuilt in the meantime. */
export async function quarantine(parts: Parts, namespace: string, memories: readonly StateRef[]): Promise<void> {
  const { store, now } = parts;
  const reduce = reducerOf(parts);
  for (let start = 0; start < memories.length; ) {
    const some = memories.slice(start, start + TOGETHER);
    const done = await store.atHead(namespace, {
      after: await store.head(namespace),
      limit: TOGETHER,
      write: true,
      *work(_, seq) {
        const [pending] = yield [rebuildRef];
        if (!pending) return undefined;
        const states = new StateOverlay();
        yield* makeUnknown(states, { seq, at: now() }, some, reduce);
        return { states: [...states.writes()] };
      },
    });
    if (done) start += TOGETHER;
  }
}

/** Changes states as forgetting the memories at this place would. */
function* makeUnknown(
  states: StateOverlay,
  { seq, at }: Pick<SequencedEntry, "seq" | "at">,
  memories: readonly StateRef[],
  reduce: Reduce,
): OnStates<void> {
  for (const [collection, refs] of Map.groupBy(memories, ({ scope }) => collectionOf(scope) as string)) {
    const event = { type: "forget", collection, ids: refs.map(({ id }) => id) } as const;
    yield* states.reduce({ ...entryOf("", event, at), seq }, reduce);
  }
}
