import { HashedTexts } from "../embedding/hashed-texts.js";
import { hostVector, type RequestVector, textVector } from "../embedding/request-vector.js";
import { contentHash } from "../embedding/text-hash.js";
import { checkFields } from "../errors/known-fields.js";
import { printed } from "../errors/printed.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Scores } from "../learners/learner.js";
import type { EditPolicy, ShownItem } from "../ledger/events.js";
import { bestFirst } from "../scoring/order.js";
import { boundUnverified } from "../scoring/unverified.js";
import { assertName } from "../store/validate.js";
import { type CheckedRequest, checkCount, checkRequest, DEFAULT_NAME, textOf } from "./check.js";
import type { EngineContext } from "./context.js";
import { drawHoldout } from "./holdout.js";
import { handleKey, type OpenEpisode, recordBytesOf } from "./open-episodes.js";
import type { ScoringStates } from "./state-reader.js";
import { asStoreError } from "./store-failure.js";
import type { Candidate, RankedItem, Ranking, RankRequest } from "./types.js";

/** Most candidates that the engine asks a host for. */
const MAX_FETCH = 1_000;
/** Over-fetch: nearly all of the gain comes with four candidates per item shown … */
const FETCH_FACTOR = 4;
/** … and a short list still needs something to choose from. */
const MIN_FETCH = 20;

/** Bytes of an episode's record that exposures may take: a state that is larger than a store keeps could never be credited. */
const MAX_RECORD = 768 * 1024;

/** Changed spaces that were warned of once already. */
const REMEMBERED_WARNINGS = 1_000;

const NO_VECTOR = new Int8Array(0);

const SIZE_FIELDS = { namespace: true, topK: true, fetchK: true } as const;

export interface Ranker {
  rank(request: RankRequest): Promise<Ranking>;
  fetchSize(request: {
    readonly namespace?: string | undefined;
    readonly topK: number;
    readonly fetchK?: number | undefined;
  }): Promise<number>;
}

export function createRanker(context: EngineContext): Ranker {
  const { learner, open, store } = context;
  const states = context.scoringStates;
  const warnedSpaces = new Set<string>();
  const texts = new HashedTexts();

  return {
    async fetchSize(request) {
      checkFields(request, "What fetchSize is asked", "fetchSize has no option", SIZE_FIELDS);
      const { namespace = DEFAULT_NAME, topK, fetchK } = request;
      if (!context.enabled) return topK;
      assertName(namespace, "namespace");
      checkCount(topK, "topK");
      if (fetchK !== undefined) checkCount(fetchK, "fetchK");
      try {
        if (!(await states.hasTaught(namespace))) return topK;
      } catch (error) {
        degrade(context, asStoreError(error, store.name), namespace);
        return topK;
      }
      const wanted = fetchK ?? learner.fetchK?.(topK) ?? Math.max(FETCH_FACTOR * topK, MIN_FETCH);
      return Math.max(topK, Math.min(MAX_FETCH, wanted));
    },

    async rank(given) {
      const request = checkRequest(given);
      const { namespace, collection, ids, similarities, candidates, topK, record } = request;
      if (!context.enabled) {
        return unrecorded(request, ids, hostOrder(ids.length, request.returned ?? topK), similarities, learner.id);
      }
      const wanted = request.episode;
      if (wanted !== undefined) openEpisode(context, namespace, wanted);
      const vector = vectorOf(request);
      const scored = await scoreCandidates(request, vector);
      if (!record)
        return {
          ...unrecorded(request, ids, scored.order, similarities, learner.id, vector, scored.scores),
          ...scored.notes,
        };

      // Before anything is opened or counted.
      for (const index of scored.order) textOf(candidates[index] as Candidate);
      if (scored.host !== scored.order) for (const index of scored.host) textOf(candidates[index] as Candidate);
      // Looked up again: it may have ended while the states were read, and must not come back to life.
      const target =
        wanted === undefined
          ? open.create(context.createId(), namespace, context.now())
          : openEpisode(context, namespace, wanted);
      open.addAliases(target, request.aliases);
      open.touch(target, context.now());
      const draw = drawHoldout(target, context.holdout);
      const order = draw?.held ? scored.host : scored.order;
      const size = recordBytesOf(
        vector?.bytes.length ?? 0,
        order.map((index) => ({ id: ids[index] as string })),
      );
      const hadRoom = target.recordBytes <= MAX_RECORD;
      target.recordBytes += size;
      if (target.recordBytes > MAX_RECORD) {
        if (hadRoom) warnOfFullEpisode(context, target);
        const { notes, scores } = scored;
        return { ...unrecorded(request, ids, order, similarities, learner.id, vector, scores), ...notes };
      }
      const shown = order.map((index): ShownItem => {
        const text = textOf(candidates[index] as Candidate);
        return {
          candidate: index,
          index,
          handle: handleOf(target, collection, ids[index] as string),
          contentHash: text === undefined ? 0 : contentHash(text),
          ...termsOf(index, similarities, scored.scores),
        };
      });
      target.exposures.push({
        collection,
        context: request.context,
        space: spaceOf(request, vector),
        length: vector?.length ?? 0,
        vectorSource: vector?.source ?? "none",
        vector: vector?.bytes ?? NO_VECTOR,
        learner: learner.id,
        gate: scored.scores?.gate ?? 0,
        holdout: draw && { ...draw, differs: showsOthers(scored.order, scored.host, ids) },
        at: context.now(),
        ids,
        similarities,
        shown,
        credited: true,
      });
      return {
        episode: target.id,
        exposure: (target.earlier?.exposures.length ?? 0) + target.exposures.length - 1,
        items: shown.map((item) => toRankedItem(item, ids, similarities)),
        learner: learner.id,
        gate: scored.scores?.gate ?? 0,
        order: scored.moved && !draw?.held ? "learned" : "host",
        ...(draw?.held ? { heldOut: true } : {}),
        vectorSource: vector?.source ?? "none",
        ...scored.notes,
      };
    },
  };

  function vectorOf(request: CheckedRequest): RequestVector | undefined {
    const { vector, text, candidates, topK, context, ids, similarities } = request;
    if (vector) return hostVector(vector, context);
    if (text === undefined) return undefined;
    return textVector(text, context, {
      ids,
      similarities,
      topK,
      neighbour(place) {
        const memory = textOf(candidates[place] as Candidate);
        return memory === undefined ? undefined : texts.vector(memory);
      },
    });
  }

  interface Scored {
    readonly order: readonly number[];
    /** The order without learning. */
    readonly host: readonly number[];
    /** Undefined when learning was left out. */
    readonly scores: Scores | undefined;
    readonly moved: boolean;
    readonly notes: Pick<Ranking, "note" | "degraded">;
  }

  async function scoreCandidates(request: CheckedRequest, vector: RequestVector | undefined): Promise<Scored> {
    const { namespace, collection, ids, similarities, topK, record } = request;
    const returned = record ? topK : (request.returned ?? topK);
    const host = hostOrder(ids.length, returned);
    let known: ScoringStates<unknown>;
    try {
      known = await states.scoring(namespace, collection, ids);
    } catch (error) {
      const failure = asStoreError(error, store.name);
      degrade(context, failure, namespace);
      const degraded = { code: failure.code, message: failure.message };
      return { order: host, host, scores: undefined, moved: false, notes: { degraded } };
    }
    const { shared, table, rows, confirmed } = known;
    const usable = vector && shared ? sameSpace(request, vector, shared) : false;
    const scores = learner.score({
      shared: shared?.state,
      table,
      rows,
      similarities,
      vector: usable ? vector?.unit : undefined,
      context: request.context,
      topK,
      explores: record,
      now: context.now(),
    });
    const unverified = scores.unchanged ? undefined : unverifiedIn(request, confirmed, context.onEdit);
    if (unverified) boundUnverified(scores.score, similarities, unverified);
    const moved = !scores.unchanged && !request.keepOrder;
    return {
      order: moved ? bestFirst(scores.score, returned, scores.movable) : host,
      host,
      scores: scores.unchanged ? { ...scores, score: similarities } : scores,
      moved,
      notes: scores.note === undefined ? {} : { note: scores.note },
    };
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
      // Forgetting all of them repeats a warning now and then; keeping all of them would grow with the tenants.
      if (warnedSpaces.size >= REMEMBERED_WARNINGS) warnedSpaces.clear();
      warnedSpaces.add(key);
      context.log(
        "warn",
        `Requests come from space ${space}, but the collection learned in ${shared.space}: ranking by scalar advantage only. Name another collection, or another namespace, to learn in the new space.`,
        { code: "SPACE_CHANGED", namespace, collection, space, learnedIn: shared.space },
      );
    }
    return false;
  }
}

/** Says once per episode that what it retrieves from here on is not credited. */
function warnOfFullEpisode({ log }: EngineContext, { id, namespace, exposures }: OpenEpisode): void {
  log(
    "warn",
    "An episode has retrieved as much as can be recorded of one: what comes now is ranked and not credited.",
    {
      code: "EPISODE_FULL",
      episode: id,
      namespace,
      exposures: exposures.length,
    },
  );
}

/** Counts and logs that learning was left out, and why; in a low voice while the store is left alone, which was said when it began. */
function degrade(context: EngineContext, failure: QavrError, namespace: string): void {
  context.counters.degraded += 1;
  const level = failure.code === "STORE_SUSPENDED" ? "debug" : "warn";
  context.log(level, `Ranking without learning: ${failure.message}`, {
    code: "RANKING_DEGRADED",
    reason: failure.code,
    namespace,
  });
}

/** @throws UNKNOWN_EPISODE */
export function openEpisode(context: EngineContext, namespace: string | undefined, id: string): OpenEpisode {
  const episode = context.open.get(id);
  if (episode && !episode.closing && (namespace === undefined || episode.namespace === namespace)) return episode;
  throw new QavrError(
    "UNKNOWN_EPISODE",
    `Episode ${printed(id)} is not open in this process. Open a new one, or report() on it.`,
    {
      details: { episode: printed(id) },
    },
  );
}

export function toRankedItem(item: ShownItem, ids: readonly string[], similarities: Float64Array): RankedItem {
  const similarity = similarities[item.candidate] as number;
  return {
    index: item.index,
    id: ids[item.candidate] as string,
    handle: item.handle === 0 ? "" : `m${item.handle}`,
    score: similarity + item.learned,
    similarity,
    learned: item.learned,
    utility: item.utility,
    evidence: item.evidence,
  };
}

function unrecorded(
  request: RankRequest,
  ids: readonly string[],
  order: readonly number[],
  similarities: Float64Array,
  learner: string,
  vector?: RequestVector,
  scores?: Scores,
): Ranking {
  return {
    episode: "",
    exposure: -1,
    items: order.map((index) =>
      toRankedItem(
        {
          candidate: index,
          index,
          handle: 0,
          contentHash: 0,
          ...termsOf(index, similarities, scores),
        },
        ids,
        similarities,
      ),
    ),
    learner,
    gate: scores?.gate ?? 0,
    order: scores && !scores.unchanged && !request.keepOrder ? "learned" : "host",
    vectorSource: vector?.source ?? "none",
  };
}

/** What learning said about one candidate; nothing when it was left out. */
function termsOf(
  index: number,
  similarities: Float64Array,
  scores: Scores | undefined,
): Pick<ShownItem, "learned" | "utility" | "evidence"> {
  if (!scores) return { learned: 0, utility: 0, evidence: 0 };
  return {
    learned: (scores.score[index] as number) - (similarities[index] as number),
    utility: scores.utility[index] as number,
    evidence: scores.evidence[index] as number,
  };
}

/** Whether two orders of one list, given by the places they show, show different memories. */
function showsOthers(a: readonly number[], b: readonly number[], ids: readonly string[]): boolean {
  if (a === b) return false;
  const shown = new Set(b.map((index) => ids[index]));
  return a.some((index) => !shown.has(ids[index])) || new Set(a.map((index) => ids[index])).size !== shown.size;
}

/** Which candidates nobody has verified: written so, and not confirmed since. Undefined where there are none. */
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

/** Whether a text is the one that was confirmed: an edit counts from its first ranking, which the ledger only hears of later. */
function isConfirmed(known: number | undefined, candidate: Candidate, onEdit: EditPolicy): boolean {
  if (known === undefined) return false;
  const text = textOf(candidate);
  return onEdit === "keep" || known === 0 || text === undefined || contentHash(text) === known;
}

function hostOrder(count: number, topK: number): number[] {
  const order: number[] = [];
  for (let index = 0; index < count && index < topK; index++) order.push(index);
  return order;
}

function spaceOf(request: RankRequest, vector: RequestVector | undefined): string {
  return vector ? (request.space ?? vector.source) : "";
}

function handleOf(episode: OpenEpisode, collection: string, id: string): number {
  const key = handleKey(collection, id);
  const known = episode.handles.get(key);
  if (known !== undefined) return known;
  episode.lastHandle += 1;
  episode.handles.set(key, episode.lastHandle);
  return episode.lastHandle;
}
