import { type Embed, mean } from "@qavr/lab";
import { dot } from "../retrieval/similarity.js";
import { type HostedRequest, type Replay, ratesOf } from "./columns.js";
import type { RealRequest } from "./real-sets.js";
import type { Success } from "./trial.js";

/** Yardsticks for learners. None of them learns; most know outcomes that a learner cannot know. */
export type Reference = "uniform" | "best single" | "best per category" | "nearest neighbours" | "oracle";

/**
 * - `uniform`: candidates at random.
 * - `best single`: the candidate with the best mean over the same requests, in hindsight; only where all requests have the same candidates.
 * - `best per category`: the same for each known category.
 * - `nearest neighbours`: all outcomes of all candidates of the stream are known; the mean of the k nearest stream requests that had the
 *   candidate, shrunk to the mean of all by one request; k of 5, 10, 20, 40, 80 or all, the best in hindsight. Held out only.
 * - `oracle`: the best candidates of each request.
 *
 * With k > 1, the mean of the k best.
 */
export function referencesOf(
  { stream, heldOut, column }: Replay,
  embed: Embed,
): Partial<Record<Reference, Partial<Success>>> {
  const both = (score: (requests: readonly RealRequest[]) => number): Success => ({
    online: score(stream),
    heldOut: score(heldOut),
  });
  const shared = isMatrix(stream);
  return {
    uniform: both((requests) => mean(requests.map(({ candidates }) => mean(candidates.map(({ outcome }) => outcome))))),
    ...(shared ? { "best single": both((requests) => bestSingle(requests, column.k)) } : {}),
    ...(shared && stream[0]?.category !== undefined
      ? { "best per category": both((requests) => bestPerCategory(requests, column.k)) }
      : {}),
    "nearest neighbours": { heldOut: nearestNeighbours(stream, heldOut, column.k, embed) },
    oracle: both((requests) =>
      mean(
        requests.map(({ candidates }) =>
          best(
            candidates.map(({ outcome }) => outcome),
            column.k,
          ),
        ),
      ),
    ),
  };
}

/** True when all requests have the same candidates. */
function isMatrix(requests: readonly RealRequest[]): boolean {
  const ids = new Set(requests[0]?.candidates.map(({ id }) => id));
  return requests.every(({ candidates }) => candidates.every(({ id }) => ids.has(id)));
}

/** Mean of the k highest values. */
function best(values: readonly number[], k: number): number {
  return mean([...values].sort((a, b) => b - a).slice(0, k));
}

function bestSingle(requests: readonly RealRequest[], k: number): number {
  return best([...ratesOf(requests).values()], k);
}

function bestPerCategory(requests: readonly RealRequest[], k: number): number {
  const categories = Map.groupBy(requests, ({ category }) => category);
  return [...categories.values()].reduce((sum, own) => sum + own.length * bestSingle(own, k), 0) / requests.length;
}

const NEIGHBOURS = [5, 10, 20, 40, 80, Number.POSITIVE_INFINITY];

function nearestNeighbours(
  stream: readonly HostedRequest[],
  heldOut: readonly HostedRequest[],
  k: number,
  embed: Embed,
): number {
  const overall = mean(stream.flatMap(({ candidates }) => candidates.map(({ outcome }) => outcome)));
  const known = stream.map(({ text, candidates }) => ({
    vector: embed(text),
    outcomes: new Map(candidates.map(({ id, outcome }) => [id, outcome])),
  }));
  const success = NEIGHBOURS.map(() => [] as number[]);
  for (const { text, candidates } of heldOut) {
    const vector = embed(text);
    const nearest = known
      .map((one) => ({ ...one, cosine: dot(vector, one.vector) }))
      .sort((a, b) => b.cosine - a.cosine);
    const worths = candidates.map(({ id }) => worthsOf(id, nearest, overall));
    for (const place of NEIGHBOURS.keys()) {
      const chosen = worths
        .map((own, candidate) => ({ candidate, worth: own[place] as number }))
        .sort((a, b) => b.worth - a.worth)
        .slice(0, k);
      success[place]?.push(mean(chosen.map(({ candidate }) => candidates[candidate]?.outcome as number)));
    }
  }
  return Math.max(...success.map(mean));
}

/** Mean outcome of a candidate in its nearest requests and one request with the mean of all, for each number of neighbours. */
function worthsOf(
  id: string,
  nearest: readonly { readonly outcomes: ReadonlyMap<string, number> }[],
  overall: number,
): readonly number[] {
  const worths: number[] = [];
  let sum = overall;
  let count = 0;
  for (const { outcomes } of nearest) {
    const outcome = outcomes.get(id);
    if (outcome === undefined) continue;
    sum += outcome;
    count += 1;
    if (count === NEIGHBOURS[worths.length]) worths.push(sum / (count + 1));
  }
  while (worths.length < NEIGHBOURS.length) worths.push(sum / (count + 1));
  return worths;
}
