import { contentHash } from "../embedding/text-hash.js";
import { checkFields } from "../errors/field-rules.js";
import type { ShownItem } from "../ledger/events.js";
import { asStoreError } from "../resilience/store-failure.js";
import { type CheckedRequest, COUNT, checkRequest, DEFAULT_NAME, labelOf, NAME, textOf } from "./check.js";
import { openEpisode } from "./episodes/find-episode.js";
import { drawEpisode } from "./episodes/holdout.js";
import { handleOf, hasRoomFor, type OpenEpisode } from "./episodes/open-episodes.js";
import type { EngineParts } from "./parts.js";
import { termsOf, toRankedItem } from "./ranked-items.js";
import { createScorer, degrade, hostOrder, type Scored, spaceOf, unscored } from "./score-candidates.js";
import type { Candidate, Engine, Ranking } from "./types.js";

/** Most candidates that the engine asks a host for. */
const MAX_FETCH = 1_000;
/** Candidates for a short list: 20 give 80 to 87 % of the gain in success of 50, and 200 add a fifth at most for four times the work. */
const MIN_FETCH = 50;
/** Candidates per item of a long list, so that it has something to choose from. */
const FETCH_FACTOR = 4;

const NO_VECTOR = new Int8Array(0);

const SIZE_RULES = { namespace: NAME, topK: COUNT, fetchK: COUNT } as const;

export function createRanker(parts: EngineParts): Pick<Engine, "rank" | "fetchSize"> {
  const { learner, open, store, scoringStates } = parts;
  const score = createScorer(parts);

  return {
    async fetchSize(request) {
      checkFields("fetchSize", request, SIZE_RULES, ["topK"]);
      const { namespace = DEFAULT_NAME, topK, fetchK } = request;
      if (!parts.enabled) return topK;
      try {
        if (!(await scoringStates.hasTaught(namespace))) return topK;
      } catch (error) {
        degrade(parts, asStoreError(error, store.name), namespace);
        return topK;
      }
      const wanted = fetchK ?? learner.fetchK?.(topK) ?? Math.max(FETCH_FACTOR * topK, MIN_FETCH);
      return Math.max(topK, Math.min(MAX_FETCH, wanted));
    },

    async rank(given) {
      const request = checkRequest(given);
      const { namespace, ids, topK, record, episode: wanted } = request;
      if (!parts.enabled) return unrecorded(request, unscored(hostOrder(ids.length, request.returned ?? topK)));
      if (wanted !== undefined) openEpisode(open, namespace, wanted);
      const scored = await score(request);
      return record ? expose(request, scored) : unrecorded(request, scored);
    },
  };

  /** Adds the exposure to its episode. Synchronous: the episode cannot end meanwhile. */
  function expose(request: CheckedRequest, scored: Scored): Ranking {
    const { namespace, collection, ids, similarities, groups, candidates, episode: wanted } = request;
    const now = parts.now();
    // Looked up again: it may have ended while the states were read.
    const known = wanted === undefined ? undefined : openEpisode(open, namespace, wanted);
    const id = known?.id ?? parts.createId();
    const { holdout: draw, ...drawn } = drawEpisode(known ?? { id, earlier: undefined }, {
      holdout: parts.holdout ?? scored.hostShare,
      memoryOff: parts.memoryOff,
    });
    const memoryOff = request.required ? undefined : drawn.memoryOff;
    const isOff = memoryOff?.held;
    const order = isOff ? [] : draw?.held ? scored.host : scored.order;
    const { vector, scores, moved } = scored;
    const isLearned = moved && order === scored.order;
    // Read before anything is opened or counted, since a text or label that is no string is refused.
    const texts = order.map((index) => textOf(candidates[index] as Candidate));
    const labels = order.map((index) => labelOf(candidates[index] as Candidate));
    const target = known ?? open.create(id, namespace, now);
    open.addAliases(target, request.aliases);
    open.touch(target, now);
    const dims = vector?.bytes.length ?? 0;
    const room = hasRoomFor(
      target,
      dims,
      order.map((index) => ids[index] as string),
    );
    if (room !== "yes") {
      if (room === "no longer") warnOfFullEpisode(parts, target);
      return unrecorded(request, { ...scored, order });
    }
    const shown = order.map((index, place): ShownItem => {
      const text = texts[place];
      return {
        ...itemOf(index, place, request, scores),
        handle: handleOf(target, collection, ids[index] as string),
        contentHash: text === undefined ? 0 : contentHash(text),
        label: labels[place] as string,
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
      gate: scores?.gate ?? 0,
      holdout: draw && {
        ...draw,
        differs: showsOthers(scored.order, scored.host, ids),
        // A request that keeps the host's order compares nothing, also in an episode that was drawn before.
        advantage: Math.fround((moved && scores?.advantage?.()) || 0),
      },
      memoryOff,
      at: now,
      ids,
      similarities,
      groups,
      scores: scores?.unchanged === false ? [...scores.score] : undefined,
      shown,
      dropped: [],
      reordered: isLearned,
      movable: scores?.movable ?? ids.length,
      scale: scores?.terms?.scale ?? 0,
      credited: true,
    });
    return {
      ...rankingOf(shown, request, { ...scored, moved: isLearned }),
      episode: target.id,
      exposure: (target.earlier?.exposures.length ?? 0) + target.exposures.length - 1,
      ...(draw?.held && { heldOut: true }),
      ...(isOff && { memoryOff: true }),
    };
  }

  function unrecorded(request: CheckedRequest, scored: Scored): Ranking {
    const items = scored.order.map((index, place) => itemOf(index, place, request, scored.scores));
    return rankingOf(items, request, scored);
  }

  /** The ranking of items that are recorded nowhere. */
  function rankingOf(
    items: readonly ShownItem[],
    { ids, similarities }: CheckedRequest,
    { vector, scores, moved, notes }: Scored,
  ): Ranking {
    return {
      episode: "",
      exposure: -1,
      items: items.map((item) => toRankedItem(item, ids[item.index] as string, similarities[item.index] as number)),
      learner: learner.id,
      gate: scores?.gate ?? 0,
      order: moved ? "learned" : "host",
      vectorSource: vector?.source ?? "none",
      ...notes,
    };
  }
}

/** A candidate at a place of the list, from 0. */
function itemOf(index: number, place: number, { similarities }: CheckedRequest, scores: Scored["scores"]): ShownItem {
  const terms = termsOf(index, similarities, scores);
  return { candidate: index, index, rank: place + 1, handle: 0, contentHash: 0, label: "", ...terms };
}

/** Logs, once per episode, that further retrievals of it are not credited. */
function warnOfFullEpisode({ log }: EngineParts, { id, namespace, exposures }: OpenEpisode): void {
  log("warn", "An episode has retrieved all that one record holds: more is not credited.", {
    code: "EPISODE_FULL",
    episode: id,
    namespace,
    exposures: exposures.length,
  });
}

/** True when two orders of one list, given by the places they show, show different memories. */
function showsOthers(a: readonly number[], b: readonly number[], ids: readonly string[]): boolean {
  if (a === b) return false;
  const shown = new Set(b.map((index) => ids[index]));
  return a.some((index) => !shown.has(ids[index])) || new Set(a.map((index) => ids[index])).size !== shown.size;
}
