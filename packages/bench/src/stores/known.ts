import type { RankRequest, Store } from "@qavr/core";
import { type Measurement, type MeasureOptions, measureInterleaved } from "../speed/measure.js";
import { searchRequest } from "../speed/search-request.js";
import { buildVectorIndex } from "../speed/vector-index.js";
import { createHistory, HISTORY, historyIndex } from "./history.js";

/** Size of one read's answer, and length of the ledger. */
export const KNOWN = { memories: 100, candidates: 20, events: 100_000, page: 100 } as const;

/** The reads of what is known of memories on one store, µs, beside a ranking. */
export interface KnownReads {
  readonly store: string;
  readonly ranking: Measurement;
  readonly memories: Measurement;
  readonly history: Measurement;
}

const LONG = "long";
const BATCH = 1_000;
/** Length of request vectors. */
const DIMS = 256;

/** Copies the events of a namespace until another one has so many. */
async function repeatEvents(store: Store, from: string, events: number): Promise<void> {
  const entries = await store.readEntries(from, { limit: BATCH });
  for (let done = 0; done < events; done += entries.length) {
    const copies = entries.slice(0, events - done).map((entry) => ({ ...entry, key: `${done} ${entry.key}` }));
    await store.commit(LONG, copies, function* () {
      yield [];
      return [];
    });
  }
}

/**
 * Reads of an engine with a past, one store after the other.
 *
 * @param stores by name
 */
export async function measureKnownReads(
  stores: Readonly<Record<string, Store>>,
  { events = KNOWN.events, ...options }: MeasureOptions & { readonly events?: number },
): Promise<readonly KnownReads[]> {
  const index = buildVectorIndex(historyIndex(HISTORY, DIMS));
  const request = searchRequest(index, { fetched: KNOWN.candidates, shown: KNOWN.candidates });
  const ids = Array.from({ length: KNOWN.memories }, (_, i) => `m${i * 2}`);
  const known: KnownReads[] = [];
  for (const [name, store] of Object.entries(stores)) {
    const { engine } = await createHistory(index, store);
    await repeatEvents(store, "default", events);
    const [ranking, memories, history] = await measureInterleaved(
      [
        {
          name: "ranking",
          prepare: (query) => request(query % HISTORY.queries, { record: false }),
          run: (_, given) => engine.rank(given as RankRequest),
        },
        { name: "memories", run: () => engine.memories({ ids }) },
        {
          name: "history",
          run: (query) => engine.history({ namespace: LONG, after: (query * 977) % events, limit: KNOWN.page }),
        },
      ],
      options,
    );
    known.push({ store: name, ranking, memories, history } as KnownReads);
  }
  return known;
}
