import { OUTCOME_TIERS, type OutcomeTier } from "../ledger/events.js";
import { STORE_LIMITS } from "../store/store.js";
import type { Engine, ExposureView, HistoryEvent } from "./types.js";

/** One thing that keeps a namespace from learning. */
export interface LoopFinding {
  readonly code: keyof typeof FIXES;
  /** The observation, with its numbers. */
  readonly finding: string;
  readonly fix: string;
}

const FIXES = {
  OUTCOMES_MISSING:
    "Track every run to its end, and report how it went: evaluate, a report by run id, or the agent's report tool.",
  IDS_CHANGE:
    "Give each memory an id that stays the same when the store is filled again, such as its file name or primary key.",
  NOTHING_JUDGED:
    "Judge runs (evaluate), report how they went, pass on people's ratings, or give the agent the report tool.",
  REWARDS_EQUAL: "Report both successes and failures. A judge that always says the same teaches nothing.",
  SIMILARITIES_TIED: "Search with scores that differ, such as those of an embedding model, and pass them on.",
  NOTHING_TO_CHOOSE_FROM:
    "Show fewer (k, topK), or let the search find more. Where all are shown, votes tell them apart: report helpful and harmful ones.",
} as const;

/** Fewest runs for most checks. */
export const LOOP_RUNS = 50;
/** Fewest ended runs for the finding that none was judged. */
const UNJUDGED_RUNS = 20;
/** Entries that are looked at: two for most runs. */
const LATEST_ENTRIES = 4 * LOOP_RUNS;
/** Fewest retrievals with evidence for the finding that no more is found than shown. */
const LEARNED_RETRIEVALS = 8;
/** Least share that counts as the rule. */
const MOST = 0.5;
/** Similarities closer than this are the same. */
const TIE = 1e-9;
/**
 * How collections of Mastra's messages begin: `messages-2` after a change of the embedding model. A question that is asked again is a message
 * of its own, so equal texts say nothing about ids.
 */
const MESSAGES = "messages";

/** The latest part of a namespace, as {@link checkLoop} reads it. */
export interface LoopSample {
  readonly events: readonly HistoryEvent[];
  /** Memories that it showed, without messages; of very many the latest. */
  readonly ids: number;
  /** Their different texts; each collection has its own. */
  readonly texts: number;
}

/** Reads the latest entries of a namespace. @throws the store's codes */
export async function readLoop(
  engine: Engine,
  namespace: string,
  head: number,
  entries: number = LATEST_ENTRIES,
): Promise<LoopSample> {
  const { events } = await engine.history({ namespace, after: Math.max(0, head - entries), limit: entries });
  const shown = Map.groupBy(exposuresIn(events), ({ collection }) => collection);
  let [ids, texts] = [0, 0];
  for (const [collection, exposures] of shown) {
    if (collection.startsWith(MESSAGES)) continue;
    const named = [...new Set(exposures.flatMap(({ items }) => items.map(({ id }) => id)))].slice(-STORE_LIMITS.batch);
    const { memories } = await engine.memories({ namespace, collection, ids: named });
    ids += named.length;
    texts += new Set(memories.map(({ id, contentHash }) => contentHash ?? id)).size;
  }
  return { events, ids, texts };
}

/** The most frequent reasons why nothing is learned, found in the latest runs. */
export function checkLoop({ events, ids, texts }: LoopSample): LoopFinding[] {
  const states = new Map(events.flatMap((event) => (event.type === "exposure" ? [[event.episode, event.state]] : [])));
  // A suspended run waits for a person: its outcome is yet to come.
  const over = [...states.keys()].filter((episode) => states.get(episode) !== "suspended");
  const found: LoopFinding[] = [];
  const say = (code: LoopFinding["code"], finding: string): void =>
    void found.push({ code, finding, fix: FIXES[code] });
  const rewards = rewardsIn(events);
  const known = [...rewards.values()];
  const voted = votedRuns(events);
  // Votes tell memories apart whatever the rewards are.
  const unvoted = voted.size === 0;
  const unjudged = unvoted && known.length >= UNJUDGED_RUNS && known.every(({ tier }) => tier === "completed");
  if (unjudged) {
    say(
      "NOTHING_JUDGED",
      `The latest ${known.length} outcomes say that a run ended, and none was judged, so little is learned.`,
    );
  }
  const retrievals = exposuresIn(events);
  const isLoaded = loadedCollections(events);
  const learned = retrievals.filter(({ order, collection }) => order === "learned" && !isLoaded.has(collection));
  if (learned.length >= LEARNED_RETRIEVALS && learned.every(({ notShown }) => notShown.length === 0)) {
    say(
      "NOTHING_TO_CHOOSE_FROM",
      `The latest ${learned.length} searches found no more memories than were shown, so learning can reorder them and never bring in a better one.`,
    );
  }
  if (over.length < LOOP_RUNS) return found;

  const withOutcome = over.filter((episode) => rewards.has(episode) || voted.has(episode)).length;
  if (withOutcome < over.length * MOST) {
    say("OUTCOMES_MISSING", `${over.length - withOutcome} of the latest ${over.length} runs have no outcome.`);
  }
  // A store that was filled again once: not every text is shown under both ids.
  if (ids > texts && ids - texts >= texts * MOST) {
    say("IDS_CHANGE", `${ids} ids were shown for ${texts} different texts, so evidence does not add up.`);
  }
  if (unvoted && !unjudged && known.length >= LOOP_RUNS && known.every(({ reward }) => reward === known[0]?.reward)) {
    say(
      "REWARDS_EQUAL",
      `The latest ${known.length} rewards are all ${known[0]?.reward}, so no memory can be told from another.`,
    );
  }
  const tied = retrievals.filter(isTied).length;
  if (tied > 0 && tied >= retrievals.length * MOST) {
    say(
      "SIMILARITIES_TIED",
      `In ${tied} of the latest ${retrievals.length} retrievals all candidates were equally similar.`,
    );
  }
  return found;
}

/**
 * The collections whose memories the runs load, such as skills and tools. A run's outcome is a vote on each memory that it loaded, so learning
 * tells these apart although all are shown.
 */
function loadedCollections(events: readonly HistoryEvent[]): ReadonlySet<string> {
  const uses = events.flatMap((event) => (event.type === "outcome" ? (event.used ?? []) : []));
  const ids = new Set(uses.flatMap(({ id, by }) => (by === "skill" ? [id] : [])));
  const shown = exposuresIn(events).filter(({ items }) => items.some(({ id }) => ids.has(id)));
  return new Set(shown.map(({ collection }) => collection));
}

function exposuresIn(events: readonly HistoryEvent[]): ExposureView[] {
  return events.flatMap((event) => (event.type === "exposure" ? event.exposures : []));
}

/** Runs with votes on memories. These teach as rewards do; runs of procedures have nothing else. */
function votedRuns(events: readonly HistoryEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) =>
      event.type === "outcome" && event.helpful.length + event.harmful.length > 0 ? [event.episode] : [],
    ),
  );
}

/** The reward of the best tier of each episode. */
function rewardsIn(
  events: readonly HistoryEvent[],
): Map<string, { readonly reward: number; readonly tier: OutcomeTier }> {
  const best = new Map<string, { readonly reward: number; readonly tier: OutcomeTier }>();
  for (const event of events) {
    if (event.type !== "outcome" || event.reward === null) continue;
    const { episode, reward, tier } = event;
    const known = best.get(episode);
    if (known && OUTCOME_TIERS.indexOf(known.tier) < OUTCOME_TIERS.indexOf(tier)) continue;
    best.set(episode, { reward, tier });
  }
  return best;
}

function isTied({ items, notShown }: ExposureView): boolean {
  const similarities = [...items, ...notShown].map(({ similarity }) => similarity);
  return similarities.length > 1 && Math.max(...similarities) - Math.min(...similarities) < TIE;
}
