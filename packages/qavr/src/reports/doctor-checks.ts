import type { ExposureView, HistoryEvent, NamespaceStatus } from "@qavr/core";
import { unreachableScores } from "@qavr/learners";
import { LISTED_NAMESPACES } from "../open-ledger.js";
import { count, percent, plural, points } from "../terminal/text.js";
import type { Finding } from "./finding.js";
import { harmfulMemories, type MemoryOfCollection } from "./harmful-memories.js";
import { outcomesIn, runsIn } from "./judged-runs.js";
import { LEAST_RUNS } from "./learning-state.js";

/** Facts that the checks look at. */
export interface Facts {
  /** The latest entries of the namespace, in order. */
  readonly events: readonly HistoryEvent[];
  readonly status: NamespaceStatus;
  /** Memories that these entries have found, at most ten thousand of each collection. */
  readonly memories: readonly MemoryOfCollection[];
  /** Namespaces of the ledger, at most a thousand. */
  readonly namespaces: number;
  /** Runs of the largest of these. Where the examined one has a few, or there are few namespaces, those of the examined one. */
  readonly mostRuns: number;
  /** Unix ms. */
  readonly now: number;
}

type Check = (facts: Facts) => Finding | undefined;

const LEAST_REPORTED_TWICE = 10;
/** Kinds of task that an application may have. */
const MOST_CONTEXTS = 32;
/** Runs that a context, a namespace or a memory should have. */
const LEAST_RUNS_EACH = 3;
/** Retrievals that found a memory after which its absence is no accident. */
const OFTEN_FOUND = 30;
const LEAST_MEMORIES = 10;
/** Retrievals in another order than the learned one after which that is no accident. */
const OFTEN_KEPT = 8;
/** Shares above which the application is wired wrongly rather than unlucky. */
const MOST_ABANDONED = 0.2;
const MOST_CONTRADICTED = 0.2;
const MOST_NEVER_SHOWN = 0.5;
/** Rank correlation of exposures with the share of successes at and below which the worst memories are shown most. */
const SHOWN_AGAINST_SUCCESS = -0.5;
/** How far clocks may disagree, ms. */
const CLOCK_TOLERANCE = 60_000;

/** The checks after the five of the loop itself. */
export const CHECKS: readonly Check[] = [
  learningHarms,
  neverShown,
  orderKept,
  contextsSplit,
  namespacesSplit,
  shownAgainstSuccess,
  oneSidedScores,
  unreachableFloor,
  abandonedRuns,
  sourcesDisagree,
  harmfulMemories,
  clock,
  rebuildPending,
];

function learningHarms({ status }: Facts): Finding | undefined {
  const measured = status.lift?.lift;
  if (typeof measured !== "object" || measured.high >= 0) return undefined;
  const { difference, low, high } = measured;
  return {
    id: "learning-harms",
    finding: `Runs in learned order go worse than held-out ones: lift ${points(difference)} points (95 % interval ${points(low)} … ${points(high)}).`,
    fix: "Name the kind of task as context, or compare learners by npx qavr eval. Lift counts all runs: another namespace begins anew. Meanwhile holdout: 1 keeps the host's order.",
  };
}

function neverShown({ events, memories }: Facts): Finding | undefined {
  const found = new Map<string, number>();
  const shown = new Set(memories.filter((memory) => memory.shown > 0).map(({ id }) => id));
  for (const { items, notShown } of exposuresIn(events)) {
    for (const { id } of items) shown.add(id);
    for (const { id } of notShown) found.set(id, (found.get(id) ?? 0) + 1);
  }
  const often = [...found].filter(([, times]) => times >= OFTEN_FOUND);
  const never = often.filter(([id]) => !shown.has(id));
  if (often.length < LEAST_MEMORIES || never.length < often.length * MOST_NEVER_SHOWN) return undefined;
  return {
    id: "never-shown",
    finding: `${never.length} of ${often.length} memories were found ${OFTEN_FOUND} times or more and never shown, so nothing is learned of them.`,
    fix: "Lower holdout or memoryOff if it is near 1, leave keepOrder off, and check whether a later stage always keeps the host's first results.",
  };
}

/** Collections whose searches all ask for the host's order, as a wrapped store's own maximal marginal relevance does. */
function orderKept({ events }: Facts): Finding | undefined {
  const searches = Map.groupBy(exposuresIn(events), ({ collection }) => collection);
  for (const [collection, own] of searches) {
    const kept = own.filter(isKept).length;
    if (kept < OFTEN_KEPT || own.some(({ order }) => order === "learned")) continue;
    return {
      id: "order-kept",
      finding: `The host's order was shown in ${kept} retrievals of collection ${collection} where the learned one is another, and the learned one in none.`,
      fix: 'Leave keepOrder off, and search lessons with rankBy: "learned". A wrapped store\'s own mmr keeps its order, too: memory.retriever(store.asRetriever({ k: 20, searchType: "mmr" }), { k: 4 }) chooses among what mmr finds.',
    };
  }
  return undefined;
}

/** True where two memories stand in the host's order, though the learned scores say otherwise and nothing was held out. */
function isKept({ order, heldOut, items }: ExposureView): boolean {
  if (order === "learned" || heldOut) return false;
  return items.some((item, place) => {
    const next = items[place + 1];
    return next !== undefined && item.similarity > next.similarity && item.score < next.score;
  });
}

function contextsSplit({ events }: Facts): Finding | undefined {
  const isNamed = ({ context }: ExposureView): boolean => context !== "default";
  const named = events.flatMap((event) => (event.type === "exposure" && event.exposures.some(isNamed) ? [event] : []));
  const contexts = new Set(exposuresIn(named).flatMap((one) => (isNamed(one) ? [one.context] : []))).size;
  const runs = new Set(named.map(({ episode }) => episode)).size;
  if (contexts <= MOST_CONTEXTS || runs >= contexts * LEAST_RUNS_EACH) return undefined;
  return {
    id: "contexts-split",
    finding: `The latest ${runs} runs name ${contexts} contexts: evidence of one counts only partly in the others.`,
    fix: "Name as context a kind of task, of which there are few; not a run, user or question.",
  };
}

/** True where the namespaces of a ledger look like those of single runs, by one of them. */
export function looksSplit(namespaces: number, runs: number): boolean {
  return namespaces >= LEAST_RUNS && runs < LEAST_RUNS_EACH;
}

function namespacesSplit({ mostRuns, namespaces }: Facts): Finding | undefined {
  if (!looksSplit(namespaces, mostRuns)) return undefined;
  const orMore = namespaces === LISTED_NAMESPACES ? " or more" : "";
  return {
    id: "namespaces-split",
    finding: `The ledger has ${count(namespaces)} namespaces${orMore}, and the largest one looked at has ${plural(mostRuns, "run")}: nothing is learned from one for another.`,
    fix: "Name as namespace a tenant or an application; not a run, thread or request.",
  };
}

function shownAgainstSuccess({ memories }: Facts): Finding | undefined {
  const known = memories.filter(({ successes, failures }) => successes + failures >= LEAST_RUNS_EACH);
  if (known.length < LEAST_MEMORIES) return undefined;
  const correlation = rankCorrelation(
    known.map((memory) => memory.shown),
    known.map(({ successes, failures }) => successes / (successes + failures)),
  );
  if (correlation > SHOWN_AGAINST_SUCCESS) return undefined;
  return {
    id: "worst-shown-most",
    finding: `Memories whose runs succeed less are shown more: rank correlation of exposures with successes ${correlation.toFixed(2)}.`,
    fix: "Check whether rankings are used at all: holdout near 1, keepOrder, or a stage after the ranking that sorts anew.",
  };
}

function oneSidedScores({ events }: Facts): Finding | undefined {
  const rewards = runsIn(events).judged.map(({ reward }) => reward);
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)];
  if (rewards.length < LEAST_RUNS || low === high || (low < 0.5 && high >= 0.5)) return undefined;
  const side = low >= 0.5 ? "success" : "failure";
  return {
    id: "one-sided-scores",
    finding: `Rewards lie between ${low.toFixed(2)} and ${high.toFixed(2)}, so every run counts as a ${side}: the threshold of 0.5 never separates them.`,
    fix: "Scale scores so that a run worth repeating gets 0.5 or more, and any other less.",
  };
}

/** `score10()` keeps memories below −5 last by default, and votes never move a score that far. */
function unreachableFloor({ status: { learner, episodes } }: Facts): Finding | undefined {
  const [floor] = learner === "score10@1" && episodes.recorded >= LEAST_RUNS ? unreachableScores([-5]) : [];
  if (floor === undefined) return undefined;
  return {
    id: "unreachable-floor",
    finding: `${learner} puts memories with a score below ${floor} last, and with its default options no votes bring a score that low.`,
    fix: "Leave it so, or archive memories by the votes on them: prune() of @qavr/core/maintenance.",
  };
}

function abandonedRuns({ events }: Facts): Finding | undefined {
  const states = new Map(events.flatMap((event) => (event.type === "exposure" ? [[event.episode, event.state]] : [])));
  const abandoned = [...states.values()].filter((state) => state === "abandoned").length;
  if (states.size < LEAST_RUNS || abandoned < states.size * MOST_ABANDONED) return undefined;
  return {
    id: "abandoned-runs",
    finding: `${abandoned} of the latest ${states.size} runs (${percent(abandoned / states.size)}) never ended.`,
    fix: "Track the runnable that retrieves, read streams to their end, and close the memory before the process exits.",
  };
}

function sourcesDisagree({ events }: Facts): Finding | undefined {
  const bySource = new Map<string, Map<string, number>>();
  for (const { episode, source, tier, reward } of outcomesIn(events)) {
    if (tier === "completed") continue;
    const reports = bySource.get(episode) ?? new Map<string, number>();
    bySource.set(episode, reports.set(source, reward));
  }
  const several = [...bySource.values()].filter((reports) => reports.size > 1).map((reports) => [...reports.values()]);
  const against = several.filter(
    (rewards) => rewards.some((reward) => reward < 0.5) && rewards.some((reward) => reward >= 0.5),
  );
  if (several.length < LEAST_REPORTED_TWICE || against.length < several.length * MOST_CONTRADICTED) return undefined;
  return {
    id: "sources-disagree",
    finding: `In ${against.length} of ${several.length} runs with several reports, one says success and another failure.`,
    fix: "Health in npx qavr dashboard shows how often each source reports a success. Correct the judge, revoke the source, or weigh sources by trust (governance).",
  };
}

function clock({ events, now }: Facts): Finding | undefined {
  const back = events.filter(
    (event, i) => i > 0 && event.at < (events[i - 1] as HistoryEvent).at - CLOCK_TOLERANCE,
  ).length;
  const ahead = events.filter(({ at }) => at > now + CLOCK_TOLERANCE).length;
  if (back === 0 && ahead === 0) return undefined;
  const said = [
    ...(back > 0 ? [`went back ${plural(back, "time")}`] : []),
    ...(ahead > 0 ? [`wrote ${plural(ahead, "entry that lies", "entries that lie")} in the future`] : []),
  ];
  return {
    id: "clock",
    finding: `The clock of a writer ${said.join(" and ")}.`,
    fix: "Synchronise the clocks of the machines that write. Decay, windows and revocations by time depend on them.",
  };
}

function rebuildPending({ status }: Facts): Finding | undefined {
  if (!status.rebuildPending) return undefined;
  return {
    id: "rebuild-pending",
    finding: "A revocation was interrupted before the states were built again.",
    fix: "npx qavr doctor --fix",
  };
}

function exposuresIn(events: readonly HistoryEvent[]): ExposureView[] {
  return events.flatMap((event) => (event.type === "exposure" ? event.exposures : []));
}

/** Spearman's rank correlation: Pearson's of the ranks, with mean ranks for ties. 0 where one of both does not vary. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranksOf(a), ranksOf(b)];
  const middle = (a.length - 1) / 2;
  const sum = (of: (i: number) => number): number => a.reduce((total, _, i) => total + of(i), 0);
  const [dx, dy] = [(i: number) => (x[i] as number) - middle, (i: number) => (y[i] as number) - middle];
  const spread = Math.sqrt(sum((i) => dx(i) ** 2) * sum((i) => dy(i) ** 2));
  return spread === 0 ? 0 : sum((i) => dx(i) * dy(i)) / spread;
}

function ranksOf(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const first = new Map<number, number>();
  const counts = new Map<number, number>();
  for (const [i, value] of sorted.entries()) {
    if (!first.has(value)) first.set(value, i);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return values.map((value) => (first.get(value) as number) + ((counts.get(value) as number) - 1) / 2);
}
