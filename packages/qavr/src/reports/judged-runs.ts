import { type HistoryEvent, OUTCOME_TIERS, type OutcomeTier } from "@qavr/core";
import type { Progress } from "@qavr/core/maintenance";
import type { Ledger } from "../open-ledger.js";

/** A run with the reward that counts: that of its best tier, the later one of equal tiers. */
export interface JudgedRun {
  readonly episode: string;
  readonly at: number;
  readonly reward: number;
  readonly tier: OutcomeTier;
  /** True where a checker, a person or the agent gave a reward, also one that a better tier has overruled. */
  readonly judged: boolean;
  readonly heldOut: boolean;
  /** True where it was shown no memory, to measure the worth of memory. */
  readonly memoryOff: boolean;
}

/** The part of a run's outcomes that counts. */
type Judgement = Omit<JudgedRun, "heldOut" | "memoryOff">;

/** Something besides runs that may explain a change of their success. */
export interface LedgerEvent {
  /** Unix ms. */
  readonly at: number;
  readonly what: string;
}

/** The reports of one source that were read, without revoked ones. */
export interface Reporter {
  readonly source: string;
  readonly tier: OutcomeTier;
  readonly outcomes: number;
  /** Mean of its rewards in [0, 1]. */
  readonly success: number;
}

/** The runs of a namespace that were read. */
export interface RunSample {
  /** By time of the outcome in the ledger, oldest first. */
  readonly judged: readonly JudgedRun[];
  /** Runs that are over. */
  readonly runs: number;
  /** Those with a reward, whatever its tier, or with votes on memories. */
  readonly withOutcome: number;
  /** The busiest first. */
  readonly reporters: readonly Reporter[];
  /** Names of all who reported something, also votes without a reward. */
  readonly sources: readonly string[];
  /** Oldest first: another learner, imports, revocations. */
  readonly events: readonly LedgerEvent[];
  /** True when windows of the ledger were read instead of all of it. */
  readonly sampled: boolean;
}

/** Entries up to which a ledger is read whole: about a second. */
const WHOLE = 6_000;
/** Of longer ledgers: evenly spread windows, and the entries of each. */
const WINDOWS = 40;
const WINDOW = 120;
const PAGE = 1_000;
const MOST_EVENTS = 12;
const MOST_REPORTERS = 20;

/** Tiers of a person, a checker or the agent. Without these, only the ends of runs are known. */
const JUDGEMENTS: ReadonlySet<OutcomeTier> = new Set(["verified", "user", "self-reported"]);

/** Reads the judged runs of a namespace: all of a short ledger, a sample of a long one. */
export async function readRuns({ engine, store, namespace }: Ledger, progress?: Progress): Promise<RunSample> {
  const head = await store.head(namespace);
  const [first] = await store.readEntries(namespace, { limit: 1 });
  const start = first ? first.seq - 1 : head;
  const sampled = head - start > WHOLE;
  const pages = sampled ? WINDOWS : Math.ceil((head - start) / PAGE);
  const events: HistoryEvent[] = [];
  for (let page = 0; page < pages; page++) {
    const limit = sampled ? WINDOW : PAGE;
    const after = sampled ? start + Math.floor(((head - start - limit) * page) / (pages - 1)) : start + page * PAGE;
    events.push(...(await engine.history({ namespace, after, limit })).events.map(withoutCandidates));
    progress?.(page + 1, pages);
  }
  const sources = [...new Set(unrevokedIn(events).map(({ source }) => source))];
  const all = runsIn(events);
  // A run without its retrieval cannot be told to be held out. A whole ledger lacks only compacted ones; a sample lacks too many to drop.
  const { judged } = sampled ? all : runsIn(withRetrievals(events));
  return { ...all, judged, reporters: reportersIn(events), sources, events: eventsIn(events), sampled };
}

/** Without the outcomes of runs whose retrievals were compacted away. */
function withRetrievals(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  // A run that was resumed after the compaction has an entry without them.
  const known = new Set(
    events.flatMap((event) => (event.type === "exposure" && event.exposures.length > 0 ? [event.episode] : [])),
  );
  return events.filter((event) => event.type !== "outcome" || known.has(event.episode));
}

function reportersIn(history: readonly HistoryEvent[]): readonly Reporter[] {
  const found = new Map<string, { source: string; tier: OutcomeTier; rewards: number[] }>();
  for (const { source, tier, reward } of outcomesIn(history)) {
    const key = JSON.stringify([source, tier]);
    const known = found.get(key) ?? { source, tier, rewards: [] };
    known.rewards.push(reward);
    found.set(key, known);
  }
  return [...found.values()]
    .map(({ source, tier, rewards }) => ({
      source,
      tier,
      outcomes: rewards.length,
      success: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length,
    }))
    .sort((a, b) => b.outcomes - a.outcomes)
    .slice(0, MOST_REPORTERS);
}

/** Events that may explain a change of the curve; the last {@link MOST_EVENTS}. */
function eventsIn(history: readonly HistoryEvent[]): readonly LedgerEvent[] {
  let learner: string | undefined;
  const found: LedgerEvent[] = [];
  for (const event of history) {
    if (event.type === "exposure") {
      const now = event.exposures.at(-1)?.learner ?? learner;
      if (learner !== undefined && now !== learner) found.push({ at: event.at, what: `learner ${now}` });
      learner = now;
    }
    if (event.type === "import") found.push({ at: event.at, what: `${event.ids.length} memories imported` });
    if (event.type === "revoke")
      found.push({ at: event.at, what: `revocation${event.source ? ` of ${event.source}` : ""}` });
  }
  return found.slice(-MOST_EVENTS);
}

/** Drops data that a curve does not need: an exposure has up to 50 candidates. */
function withoutCandidates(event: HistoryEvent): HistoryEvent {
  if (event.type !== "exposure") return event;
  return { ...event, exposures: event.exposures.map((exposure) => ({ ...exposure, items: [], notShown: [] })) };
}

type OutcomeEvent = Extract<HistoryEvent, { readonly type: "outcome" }>;

/** The outcomes in some events without those that were revoked. Events are in order. */
function unrevokedIn(events: readonly HistoryEvent[]): readonly OutcomeEvent[] {
  const revocations = events.flatMap((event) => (event.type === "revoke" ? [event] : []));
  return events.flatMap((event) => {
    if (event.type !== "outcome") return [];
    const { seq, at, source } = event;
    const revoked = revocations.some(
      (revocation) =>
        revocation.seq > seq &&
        (revocation.source === undefined || revocation.source === source) &&
        at >= revocation.from &&
        at <= revocation.to &&
        seq >= revocation.fromSeq &&
        seq <= revocation.toSeq,
    );
    return revoked ? [] : [event];
  });
}

/** Some events without the outcomes that were revoked. Events are in order. */
export function withoutRevoked(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const kept = new Set<HistoryEvent>(unrevokedIn(events));
  return events.filter((event) => event.type !== "outcome" || kept.has(event));
}

/** The outcomes with a reward in some events, without those that were revoked. Events are in order. */
export function outcomesIn(
  events: readonly HistoryEvent[],
): readonly (Omit<Judgement, "judged"> & Pick<Reporter, "source">)[] {
  return unrevokedIn(events).flatMap(({ at, episode, reward, tier, source }) =>
    reward === null ? [] : [{ episode, at, reward, tier, source }],
  );
}

/** The counting reward of each run in some events, in the order of the runs' first outcomes. Events are in order. */
export function rewardsIn(events: readonly HistoryEvent[]): ReadonlyMap<string, Judgement> {
  const best = new Map<string, Judgement>();
  for (const { at, episode, reward, tier } of outcomesIn(events)) {
    const known = best.get(episode);
    const judged = known?.judged === true || JUDGEMENTS.has(tier);
    const isOverruled = known && OUTCOME_TIERS.indexOf(known.tier) < OUTCOME_TIERS.indexOf(tier);
    best.set(episode, isOverruled ? { ...known, judged } : { episode, at: known?.at ?? at, reward, tier, judged });
  }
  return best;
}

/** The runs in some events of one ledger. Events are in order. */
export function runsIn(events: readonly HistoryEvent[]): Pick<RunSample, "judged" | "runs" | "withOutcome"> {
  const over = new Set<string>();
  const draws = new Map<string, Pick<JudgedRun, "heldOut" | "memoryOff">>();
  for (const event of events) {
    if (event.type !== "exposure") continue;
    if (event.state !== "suspended") over.add(event.episode);
    // A run that waited has its exposures in an entry of their own.
    const before = draws.get(event.episode);
    const is = (draw: "heldOut" | "memoryOff"): boolean =>
      before?.[draw] === true || event.exposures.some((exposure) => exposure[draw]);
    draws.set(event.episode, { heldOut: is("heldOut"), memoryOff: is("memoryOff") });
  }
  const all = [...rewardsIn(events).values()].map((run) => ({
    ...run,
    ...(draws.get(run.episode) ?? { heldOut: false, memoryOff: false }),
  }));
  const voted = unrevokedIn(events).filter(({ helpful, harmful }) => helpful.length + harmful.length > 0);
  const withOutcome = new Set([...all, ...voted].map(({ episode }) => episode));
  const judgements = all.filter((run) => run.judged);
  return {
    judged: judgements.length > 0 ? judgements : all,
    runs: over.size,
    withOutcome: [...over].filter((episode) => withOutcome.has(episode)).length,
  };
}
