import { hashedTexts } from "../embedding/hashed-texts.js";
import { recentMap } from "../embedding/recent-map.js";
import { hostVector, type RequestVector, textVector } from "../embedding/request-vector.js";
import { contentHash } from "../embedding/text-hash.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Scores, ScoreTerms } from "../learners/learner.js";
import type { EditPolicy } from "../ledger/events.js";
import { asStoreError } from "../resilience/store-failure.js";
import { bestFirst } from "../scoring/order.js";
import { boundUnverified } from "../scoring/unverified.js";
import { type CheckedRequest, textOf } from "./check.js";
import type { EngineParts } from "./parts.js";
import type { ScoringStates } from "./state-reader.js";
import type { Candidate, Ranking, RankRequest } from "./types.js";

/** Changed spaces whose warning is remembered: keeping all of them would grow with the tenants. */
const REMEMBERED_WARNINGS = 1_000;

/** A learner's scores, with the bound on unverified memories. */
export interface EngineScores extends Omit<Scores, "terms"> {
  readonly terms?: ScoreTerms | undefined;
  /** The scores before that bound; undefined where it held nothing back. */
  readonly unbound?: Float64Array | undefined;
}

/** A request's candidates in two orders, as places in the request. */
export interface Scored {
  readonly vector: RequestVector | undefined;
  readonly order: readonly number[];
  /** The order without learning. */
  readonly host: readonly number[];
  /** Undefined when learning was left out. */
  readonly scores: EngineScores | undefined;
  readonly moved: boolean;
  /** Share of episodes that the learner asks to show the host's order. */
  readonly hostShare: number;
  readonly notes: Pick<Ranking, "note" | "degraded">;
}

/** Scores the candidates of requests. A failing store degrades to the host's order. */
export function createScorer(parts: EngineParts): (request: CheckedRequest) => Promise<Scored> {
  const { learner, store, scoringStates } = parts;
  const warnedSpaces = recentMap<string, true>(REMEMBERED_WARNINGS);
  const hashed = hashedTexts();

  return async (request) => {
    const { namespace, collection, ids, similarities, topK, record } = request;
    const vector = vectorOf(request);
    const returned = record ? topK : (request.returned ?? topK);
    const host = hostOrder(ids.length, returned);
    let known: ScoringStates;
    try {
      known = await scoringStates.scoring(namespace, collection, ids);
    } catch (error) {
      const failure = asStoreError(error, store.name);
      parts.counters.degraded += 1;
      degrade(parts, failure, namespace);
      return unscored(host, { degraded: { code: failure.code, message: failure.message } }, vector);
    }
    const { shared, table, rows, confirmed } = known;
    const usable = vector && shared ? sameSpace(request, vector, shared) : false;
    const draws = parts.holdout === undefined && !request.keepOrder;
    const scores = learner.score({
      shared: shared?.state,
      table,
      rows,
      similarities,
      groups: request.groups,
      vector: usable ? vector?.unit : undefined,
      context: request.context,
      topK,
      explores: record,
      draws,
      now: parts.now(),
    });
    const unverified = scores.unchanged ? undefined : unverifiedIn(request, confirmed, parts.onEdit);
    const unbound = unverified && scores.score.slice();
    if (unverified) boundUnverified(scores.score, similarities, unverified);
    const hostShare = draws ? (scores.hostShare ?? 0) : 0;
    // Chance decides on recorded rankings alone; the others show the order that most of those show.
    const moved = !scores.unchanged && !request.keepOrder && (record || hostShare <= 0.5);
    return {
      vector,
      order: moved ? bestFirst(scores.score, returned, scores.movable) : host,
      host,
      scores: scores.unchanged ? { ...scores, score: similarities, terms: undefined } : { ...scores, unbound },
      moved,
      hostShare,
      notes: scores.note === undefined ? {} : { note: scores.note },
    };
  };

  function vectorOf(request: CheckedRequest): RequestVector | undefined {
    const { vector, text, candidates, context } = request;
    if (vector) return hostVector(vector, context);
    if (text === undefined) return undefined;
    return textVector(text, context, {
      ...request,
      neighbour(place) {
        const memory = textOf(candidates[place] as Candidate);
        return memory === undefined ? undefined : hashed(memory);
      },
    });
  }

  /** True when the vector belongs to the collection's space; warns once when the space changed, throws when only its length did. */
  function sameSpace(
    request: CheckedRequest,
    vector: RequestVector,
    shared: { readonly space: string; readonly length: number },
  ): boolean {
    if (shared.space === "") return true;
    const { namespace, collection } = request;
    const space = spaceOf(request, vector);
    if (space === shared.space) {
      if (vector.length === shared.length) return true;
      throw new QavrError(
        "INVALID_VECTOR",
        `The request vector has ${vector.length} values; requests of space ${space} have ${shared.length}. Name another space for another embedding model.`,
        { details: { length: vector.length, expected: shared.length, space } },
      );
    }
    const key = JSON.stringify([namespace, collection, space]);
    if (!warnedSpaces.has(key)) {
      warnedSpaces.set(key, true);
      parts.log(
        "warn",
        `The collection learned in space ${shared.space}, not ${space}: only reputations count. Name another collection to learn anew.`,
        { code: "SPACE_CHANGED", namespace, collection, space, learnedIn: shared.space },
      );
    }
    return false;
  }
}

/** The host's order, where learning is left out. */
export function unscored(host: readonly number[], notes: Scored["notes"] = {}, vector?: RequestVector): Scored {
  return { vector, order: host, host, scores: undefined, moved: false, hostShare: 0, notes };
}

export function hostOrder(count: number, topK: number): number[] {
  return Array.from({ length: Math.min(count, topK) }, (_, index) => index);
}

/** The space of a request's vector; empty without a vector. */
export function spaceOf(request: RankRequest, vector: RequestVector | undefined): string {
  return vector ? (request.space ?? vector.source) : "";
}

/** Logs a ranking without learning; at level debug while the circuit is open, since opening it was logged. */
export function degrade(parts: EngineParts, failure: QavrError, namespace: string): void {
  const level = failure.code === "STORE_CIRCUIT_OPEN" ? "debug" : "warn";
  parts.log(level, `Ranking without learning: ${failure.message}`, {
    code: "RANKING_DEGRADED",
    reason: failure.code,
    namespace,
  });
}

/** Marks candidates that are unverified and not confirmed since. Undefined where there are none. */
function unverifiedIn(
  { candidates, ids }: CheckedRequest,
  confirmed: ReadonlyMap<string, number>,
  onEdit: EditPolicy,
): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  for (let place = 0; place < candidates.length; place++) {
    const candidate = candidates[place] as Candidate;
    if (!candidate.unverified || isConfirmed(confirmed.get(ids[place] as string), candidate, onEdit)) continue;
    found ??= new Uint8Array(candidates.length);
    found[place] = 1;
  }
  return found;
}

/** True when the text is the confirmed one: an edit counts from its first ranking, before the ledger records it. */
function isConfirmed(known: number | undefined, candidate: Candidate, onEdit: EditPolicy): boolean {
  if (known === undefined) return false;
  const text = textOf(candidate);
  return onEdit === "keep" || known === 0 || text === undefined || contentHash(text) === known;
}
