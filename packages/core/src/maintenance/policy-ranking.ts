import { dequantise } from "../embedding/quantise.js";
import type { Learner } from "../learners/learner.js";
import type { RecordedExposure } from "../ledger/events.js";
import { learnedBytes } from "../ledger/memory-record.js";
import { decodeSharedRecord } from "../ledger/shared-record.js";
import { memoryRef, sharedRef } from "../ledger/state-keys.js";
import { bestFirst } from "../scoring/order.js";
import type { Fold } from "./ledger-replay.js";

/** The choices of three policies for one recorded exposure, as sets of ids of the same size. */
export interface PolicyChoice {
  /** The memories shown. */
  readonly shown: ReadonlySet<string>;
  /** The choice of the host's order. */
  readonly host: ReadonlySet<string>;
  /** The choice of the learner, from the states of the fold. */
  readonly learner: ReadonlySet<string>;
}

type RecordedCandidate = RecordedExposure["candidates"][number] & { readonly place: number };

/** Ranks the recorded candidates of an exposure with a learner whose states a fold holds. */
export function rankRecorded(learner: Learner, fold: Fold, exposure: RecordedExposure): PolicyChoice {
  const { collection, context, vector, space, length, at } = exposure;
  const candidates = inHostOrder(exposure);
  const ids = candidates.map(({ id }) => id);
  const { groups } = exposure;
  const topK = exposure.shown.length;
  const host = ids.slice(0, topK);
  const bytes = fold.state(sharedRef(collection));
  const shared = bytes && decodeSharedRecord(bytes, learner);
  const table = learner.createTable();
  const rowOf = new Map<string, number>();
  const rows = Int32Array.from(ids, (id) => {
    const known = rowOf.get(id);
    if (known !== undefined) return known;
    const state = fold.state(memoryRef(collection, id));
    const learned = state && learnedBytes(state);
    const row = learned && learned.length > 0 ? table.put(learned) : -1;
    rowOf.set(id, row);
    return row;
  });
  // As a live ranking: no vector before the collection is known, and none from another space.
  const comparable = shared && (shared.space === "" || (space === shared.space && length === shared.length));
  const scores = learner.score({
    shared: shared?.state,
    table,
    rows,
    similarities: Float64Array.from(candidates, ({ similarity }) => similarity),
    groups: groups.length > 0 ? Int32Array.from(candidates, ({ place }) => groups[place] as number) : undefined,
    vector: comparable && vector.length > 0 ? dequantise(vector) : undefined,
    context,
    topK,
    explores: true,
    now: at,
  });
  const order = scores.unchanged ? host : bestFirst(scores.score, topK, scores.movable).map((i) => ids[i] as string);
  return {
    shown: new Set(exposure.shown.map(({ candidate }) => (exposure.candidates[candidate] as { id: string }).id)),
    host: new Set(host),
    learner: new Set(order),
  };
}

/** The recorded candidates in the host's order. Memories shown from beyond `recordedCandidates` come last, by their rank. */
function inHostOrder({ candidates, shown }: RecordedExposure): readonly RecordedCandidate[] {
  const rank = new Map(shown.map(({ candidate, index }) => [candidate, index]));
  const rankOf = ({ place }: RecordedCandidate): number => rank.get(place) ?? place;
  return candidates.map((candidate, place) => ({ ...candidate, place })).sort((a, b) => rankOf(a) - rankOf(b));
}

/** How many ids two sets share. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0;
  for (const id of a) if (b.has(id)) count += 1;
  return count;
}

export function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && overlap(a, b) === a.size;
}
