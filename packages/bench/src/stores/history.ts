import { createEngine, type Engine, type Store } from "@qavr/core";
import { seededRandom } from "@qavr/lab";
import { type SearchRequest, searchRequest } from "../speed/search-request.js";
import { INDEX, type VectorIndex, type VectorIndexShape } from "../speed/vector-index.js";
import { type CountingStore, countOutcomeWrites, type OutcomeWrites } from "./outcome-writes.js";

/** A small collection in long use. */
export interface HistoryShape {
  /** Memories in the collection. */
  readonly memories: number;
  /** Requests, which come again and again in the same order. */
  readonly queries: number;
  /** Candidates per run, and how many of them it is shown. */
  readonly fetched: number;
  readonly shown: number;
  /** Runs before anything is counted. */
  readonly runs: number;
  /** Runs after them whose writes are counted. */
  readonly counted: number;
  /** Runs that end together, in one commit of the store. */
  readonly together: number;
}

export const HISTORY: HistoryShape = {
  memories: 300,
  queries: 200,
  fetched: 20,
  shown: 5,
  runs: 400,
  counted: 200,
  together: 20,
};

/** A ranking that failed open on a slow store would show other memories, and each store would have another history. Ms. */
const READ_TIMEOUT = 60_000;
/** Seed of the tossed outcomes. */
const OUTCOME_SEED = 12;

/** The index that a history searches. */
export function historyIndex({ memories, queries }: HistoryShape, dims: number): VectorIndexShape {
  return { ...INDEX, count: memories, queries, dims };
}

/** An engine with a past. */
export interface History {
  readonly engine: Engine;
  /** Writes of the counted outcomes. */
  readonly counted: OutcomeWrites;
  /** The next run, ended and recorded without an outcome. Returns its episode. */
  open(): Promise<string>;
  /** Commits the outcome of such a run: a fair coin, by the number of outcomes so far. */
  teach(episode: string): Promise<unknown>;
}

/** Lets an engine learn from `runs + counted` runs with tossed outcomes. The same arguments give the same runs and writes on every store. */
export async function createHistory(index: VectorIndex, store: Store, shape: HistoryShape = HISTORY): Promise<History> {
  const { fetched, shown, runs, counted, together } = shape;
  const counting: CountingStore = countOutcomeWrites(store);
  // Ids are drawn anew each time, and decide which runs are controls.
  const engine = createEngine({ store: counting.store, readTimeout: READ_TIMEOUT, holdout: 0 });
  const request: SearchRequest = searchRequest(index, { fetched, shown });
  const random = seededRandom(OUTCOME_SEED);
  const outcome = (): { reward: boolean; tier: "verified" } => ({ reward: random() < 0.5, tier: "verified" });
  let run = 0;
  const rank = async (): Promise<string> => (await engine.rank(request(run++ % shape.queries))).episode;

  const learnFrom = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += together) {
      const episodes: string[] = [];
      while (episodes.length < Math.min(together, count - done)) episodes.push(await rank());
      await Promise.all(episodes.map((episode) => engine.end(episode, outcome())));
    }
  };
  await learnFrom(runs);
  counting.reset();
  await learnFrom(counted);
  return {
    engine,
    counted: counting.writes(),
    async open() {
      const episode = await rank();
      await engine.end(episode);
      return episode;
    },
    teach: (episode) => engine.report(episode, outcome()),
  };
}
