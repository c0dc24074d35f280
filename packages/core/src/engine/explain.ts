import { QavrError } from "../errors/qavr-error.js";
import type { Credibility, EpisodeRecord } from "../ledger/episode-record.js";
import { decodeEvent } from "../ledger/event-codec.js";
import type { RecordedExposure, ShownItem } from "../ledger/events.js";
import { bestFirst } from "../scoring/order.js";
import { assertName } from "../store/validate.js";
import { namespaceIn } from "./check.js";
import { findEpisode } from "./episodes/find-episode.js";
import type { OpenEpisode } from "./episodes/open-episodes.js";
import { labelsOf } from "./labels.js";
import type { EngineParts } from "./parts.js";
import { toRankedItem } from "./ranked-items.js";
import { recorded } from "./recorder.js";
import { checkpointOf } from "./status.js";
import type { Engine, EpisodeView, ExplainedItem, ExposureView, NotShown } from "./types.js";

/** An episode by id or alias; the open part from memory, the rest from the ledger. */
export async function explain(
  parts: EngineParts,
  ...[reference, options]: Parameters<Engine["explain"]>
): Promise<EpisodeView | undefined> {
  const { store, states, open } = parts;
  assertName(reference, "episode id or alias");
  const namespace = namespaceIn("explain", options);
  const view = await findEpisode<EpisodeView | undefined>(
    open,
    namespace,
    reference,
    (...named) => states.resolve(...named),
    {
      open: viewOfOpen,
      recorded: async (found) => found && viewOfRecorded(found.id, found.record),
    },
  );
  return view && { ...view, exposures: await withLabels(view.exposures) };

  async function viewOfOpen({ id, earlier, recordedState, exposures }: OpenEpisode): Promise<EpisodeView> {
    // A resumed episode showed some of its memories before it was suspended.
    const before = earlier && (await viewOfRecorded(id, earlier));
    // It may have been reported on meanwhile. Its exposures are known here also while the store is away.
    const record = recordedState && (await states.episode(namespace, id).catch(() => earlier));
    const now = exposures.map((exposure) => viewOfExposure(recorded(exposure, exposure.ids.length)));
    return {
      ...(before ?? { episode: id, namespace }),
      state: "open",
      exposures: [...(before?.exposures ?? []), ...now],
      ...outcomeOf(record),
    };
  }

  async function viewOfRecorded(id: string, record: EpisodeRecord): Promise<EpisodeView> {
    const exposures: ExposureView[] = [];
    let compacted = false;
    for (const seq of new Set(record.exposures.map((exposure) => exposure.seq))) {
      const [entry] = await store.readEntries(namespace, { after: seq - 1, limit: 1 });
      if (entry?.seq !== seq && seq <= (await checkpointOf(store, namespace))) {
        compacted = true;
        continue;
      }
      const event = entry && decodeEvent(entry.type, entry.payload);
      if (event?.type !== "exposure") {
        throw new QavrError(
          "INVALID_STATE",
          `Entry ${seq} of namespace ${namespace} is not the exposure of episode ${id}. Replay the ledger.`,
        );
      }
      exposures.push(...event.exposures.map(viewOfExposure));
    }
    const view = { episode: id, namespace, state: record.state, exposures, ...outcomeOf(record) };
    return compacted ? { ...view, compacted } : view;
  }

  /** The exposures with labels for the memories that were not shown. The others were recorded with theirs. */
  async function withLabels(exposures: readonly ExposureView[]): Promise<ExposureView[]> {
    // One read for all exposures of a collection: a run may retrieve hundreds of times.
    const byCollection = Map.groupBy(exposures, ({ collection }) => collection);
    const read = async ([collection, own]: [string, ExposureView[]]): Promise<
      [string, ReadonlyMap<string, string>]
    > => {
      const ids = [...new Set(own.flatMap(({ notShown }) => notShown.map(({ id }) => id)))];
      // The store may be away, while an open episode is known here.
      return [collection, await labelsOf(store, namespace, collection, ids).catch(() => new Map())];
    };
    const known = new Map(await Promise.all([...byCollection].map(read)));
    return exposures.map((exposure) => ({
      ...exposure,
      notShown: exposure.notShown.map((memory) => {
        const label = known.get(exposure.collection)?.get(memory.id);
        return label === undefined ? memory : { ...memory, label };
      }),
    }));
  }
}

/** An exposure as the ledger has it. */
export function viewOfExposure(exposure: RecordedExposure): ExposureView {
  const { at, collection, context, learner, gate, scale, vectorSource, credited, holdout, memoryOff, reordered } =
    exposure;
  return {
    at,
    collection,
    context,
    learner,
    gate,
    ...(scale === 0 ? {} : { scale }),
    vectorSource,
    credited,
    order: reordered ? "learned" : "host",
    ...(holdout?.held ? { heldOut: true } : {}),
    ...(memoryOff?.held ? { memoryOff: true } : {}),
    items: exposure.shown.map((item) => explained(item, exposure)),
    notShown: notShownIn(exposure),
  };
}

function explained(item: ShownItem, exposure: RecordedExposure): ExplainedItem {
  const { id, similarity } = exposure.candidates[item.candidate] as { id: string; similarity: number };
  const { index, ...terms } = toRankedItem(item, id, similarity);
  return { ...terms, hostRank: index + 1, ...(item.label === "" ? {} : { label: item.label }) };
}

/** The recorded candidates that were not shown, by rank. */
function notShownIn(exposure: RecordedExposure): NotShown[] {
  const { candidates, shown, dropped, shifts, reordered, movable, holdout, memoryOff } = exposure;
  const listed = new Map([...shown, ...dropped].map((item) => [item.candidate, item]));
  const others = candidates.map((_, place) => place).filter((place) => !listed.has(place));
  const shiftOf = new Map(others.map((place, i) => [place, shifts[i] ?? 0]));
  const learnedRank = ranksOf(
    Float64Array.from(
      candidates,
      ({ similarity }, place) => similarity + (shiftOf.get(place) ?? shiftIn(listed.get(place))),
    ),
    movable,
  );
  // Among the recorded ones: those beyond `recordedCandidates` are not counted.
  const isWanted = (place: number): boolean => shifts.length > 0 && (learnedRank[place] as number) <= listed.size;
  const kept = holdout?.held ? "held-out" : "order-kept";
  const byRank = reordered
    ? [...others].sort((a, b) => (learnedRank[a] as number) - (learnedRank[b] as number))
    : others;
  const outranked = byRank.map((place, i): NotShown => {
    const { id, similarity } = candidates[place] as { id: string; similarity: number };
    const shift = shiftOf.get(place) as number;
    const reason = memoryOff?.held ? "memory-off" : !reordered && isWanted(place) ? kept : "outranked";
    return { id, rank: listed.size + i + 1, hostRank: place + 1, similarity, shift, score: similarity + shift, reason };
  });
  const gone = dropped.map((item): NotShown => {
    const { id, rank, hostRank, similarity, score } = explained(item, exposure);
    const label = item.label === "" ? {} : { label: item.label };
    return { id, ...label, rank, hostRank, similarity, shift: shiftIn(item), score, reason: "dropped" };
  });
  return [...gone.sort((a, b) => a.rank - b.rank), ...outranked];
}

function shiftIn(item: ShownItem | undefined): number {
  return item ? item.learned + item.bonus + item.overlap + item.unverified : 0;
}

/** The rank of each score, from 1. */
function ranksOf(scores: Float64Array, movable: number): Int32Array {
  const ranks = new Int32Array(scores.length);
  bestFirst(scores, scores.length, movable).forEach((place, i) => {
    ranks[place] = i + 1;
  });
  return ranks;
}

function outcomeOf(record: EpisodeRecord | undefined): Pick<EpisodeView, "outcome" | "used" | "votes"> {
  const { reward, used, votes = [] } = record ?? {};
  const cast = votes.flatMap(({ helpful, harmful, tier, source }) => [
    ...helpful.map((id) => ({ id, vote: "helpful" as const, tier, source })),
    ...harmful.map((id) => ({ id, vote: "harmful" as const, tier, source })),
  ]);
  const said = { ...(used && { used }), ...(cast.length > 0 ? { votes: cast } : {}) };
  if (reward) {
    const { tier, source, note } = reward;
    const outcome = { reward: reward.reward, tier, source, ...trustPart(reward.credibility) };
    return { ...said, outcome: note === "" ? outcome : { ...outcome, note } };
  }
  const last = votes.at(-1);
  if (!last) return said;
  const { tier, source, credibility } = last;
  return { ...said, outcome: { reward: null, tier, source, ...trustPart(credibility) } };
}

function trustPart(credibility: Credibility | undefined): { readonly trust?: number } {
  return credibility && credibility.trust < 1 ? { trust: credibility.trust } : {};
}
