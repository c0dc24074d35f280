import type { Engine, OutcomeInput, OutcomeReceipt, Ranking, RankRequest, UsedMemory } from "../engine/types.js";
import { type ErrorCode, QavrError } from "../errors/qavr-error.js";
import { type EpisodeOfRun, shownNames } from "./agent-report.js";
import { findUsed, mayName, type RunTexts } from "./find-used.js";
import { endsOf } from "./run-ends.js";

/** How a framework's run uses a session. */
export interface RunSessionOptions {
  readonly engine: Engine;
  /** Opens an episode of the run: for the first ranking in a namespace, and again after the engine gave that episode up. */
  open(namespace: string): string | Promise<string>;
  /** Tells one automatic outcome of an episode from another, as by the id of its run. @default one per episode */
  readonly outcomeKey?: string;
  /** True once nothing may be recorded any more: retrievals can outlive an aborted run. @default never */
  isOver?(): boolean;
}

/** How a run ended. */
export interface RunOutcome {
  /** Undefined when the result is unknown: the episodes end without an outcome. */
  readonly outcome?: OutcomeInput | undefined;
  /** Recorded instead where the engine refuses the outcome. */
  readonly fallback?: OutcomeInput | undefined;
  /** The run's texts, from which its used memories are found; undefined for none. */
  readonly texts?: RunTexts | undefined;
  /** Exposures in parts of the run that failed and were replaced: recorded, not credited. */
  readonly uncredited?: readonly ExposureOfRun[] | undefined;
}

/** One exposure of a run: `Ranking.episode` and `Ranking.exposure`. */
export interface ExposureOfRun {
  readonly episode: string;
  readonly exposure: number;
}

/**
 * One run of a framework from its first ranking to its outcome. It has one episode for each namespace that it ranks in, and one more
 * where it resumed another run after its own first ranking.
 */
export interface RunSession {
  /** The namespaces of its episodes. */
  readonly namespaces: readonly string[];
  /** Number of its episodes, including those that are still being opened. */
  readonly size: number;
  isOver(): boolean;
  /** Adds an episode that is open already. */
  add(namespace: string, episode: string | Promise<string>): void;
  /** Its episodes, each once. An episode that could not be opened is left out, since it showed nothing. */
  episodes(): Promise<readonly EpisodeOfRun[]>;
  /** Its episode in a namespace, opened if it has none there. @throws what opening throws */
  episodeIn(namespace: string): Promise<EpisodeOfRun>;
  /** Ranks in the run's episode. A run that was quiet for longer than open episodes are kept continues in a new one. @throws as `engine.rank` */
  rank(request: RankRequest & { readonly namespace: string }): Promise<Ranking>;
  /** Notes that only these memories of an exposure were shown. An episode that is not open any more keeps its exposure. */
  shown(exposure: ExposureOfRun, ids: readonly string[]): void;
  /** Ends every episode, with the votes of the outcome sorted by the episodes that showed the memories. @throws the first error, after all were tried */
  end(ending: RunOutcome): Promise<void>;
  /** Makes the run durable until a later run resumes it. @throws the first error, after all episodes were tried */
  suspend(alias: string): Promise<void>;
}

/** An episode whose id may still be on its way. */
interface OpenedEpisode {
  readonly namespace: string;
  readonly id: string | Promise<string>;
}

export function createRunSession({
  engine: given,
  open,
  outcomeKey,
  isOver = () => false,
}: RunSessionOptions): RunSession {
  // Ends use the engine directly: the ordered one waits for all ends, this one included.
  const { direct: engine, ordered } = endsOf(given);
  const opened: OpenedEpisode[] = [];
  let suspendedAs: string | undefined;

  const episodeIn = (namespace: string): OpenedEpisode => {
    const known = opened.find((episode) => episode.namespace === namespace);
    if (known) return known;
    const fresh = { namespace, id: open(namespace) };
    opened.push(fresh);
    return fresh;
  };

  const forEach = async (act: (of: EpisodeOfRun) => Promise<void>): Promise<void> => {
    const errors: unknown[] = [];
    for (const episode of await session.episodes()) await act(episode).catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  };

  const session: RunSession = {
    get namespaces() {
      return [...new Set(opened.map(({ namespace }) => namespace))];
    },
    get size() {
      return opened.length;
    },
    isOver,
    add(namespace, id) {
      opened.push({ namespace, id });
    },

    async episodes() {
      const byId = new Map<string, string>();
      for (const { namespace, id } of opened) {
        const episode = await Promise.resolve(id).catch(() => undefined);
        if (episode !== undefined) byId.set(episode, namespace);
      }
      return [...byId].map(([episode, namespace]) => ({ namespace, episode }));
    },

    async episodeIn(namespace) {
      return { namespace, episode: await episodeIn(namespace).id };
    },

    async rank(request) {
      const known = episodeIn(request.namespace);
      try {
        const ranking = await ordered.rank({ ...request, episode: await known.id });
        if (!isOver()) return ranking;
        // The run ended meanwhile, and has not read this.
        session.shown(ranking, []);
        throw new QavrError("UNKNOWN_EPISODE", "The run ended before this ranking.");
      } catch (error) {
        if (!QavrError.isInstance(error, "UNKNOWN_EPISODE") || isOver()) throw error;
        const place = opened.indexOf(known);
        if (place >= 0) opened.splice(place, 1);
        return ordered.rank({ ...request, episode: await episodeIn(request.namespace).id });
      }
    },

    shown({ episode, exposure }, ids) {
      try {
        ordered.narrow(episode, exposure, ids);
      } catch (error) {
        if (!QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
      }
    },

    async end({ outcome, fallback, texts, uncredited = [] }) {
      const ofRun = await session.episodes();
      const outcomeOf = await outcomePerEpisode(engine, ofRun, outcome);
      const usedOf = await usedPerEpisode(engine, ofRun, texts);
      await forEach(async ({ episode, namespace }) => {
        // A suspended episode is reopened first, so that it ends as ended.
        if (suspendedAs !== undefined) await engine.resume(suspendedAs, { namespace });
        const idempotencyKey = outcomeKey === undefined ? `run:${episode}` : `run:${outcomeKey}:${episode}`;
        const used = usedOf(episode);
        const keyed = (said: OutcomeInput | undefined = used && USE_ALONE) =>
          said && { idempotencyKey, ...(used && { used }), ...said };
        const exposures = uncredited.filter((shown) => shown.episode === episode).map(({ exposure }) => exposure);
        await endWith([keyed(outcomeOf(episode)), keyed(fallback)], (said) =>
          endOrReport(engine, episode, said, { namespace, uncredited: exposures }),
        );
      });
    },

    async suspend(alias) {
      await forEach(({ episode }) => engine.suspend(episode, { alias }));
      suspendedAs = alias;
    },
  };
  return session;
}

/** The record of a run with an unknown result and known used memories. */
const USE_ALONE: OutcomeInput = { reward: null, tier: "completed" };

/**
 * Ends an open episode. An episode that is recorded already takes the outcome as a report.
 *
 * @throws UNKNOWN_EPISODE for one that is not open when there is no outcome to report, and the engine's codes
 */
export async function endOrReport(
  engine: Engine,
  episode: string,
  outcome: OutcomeInput | undefined,
  options: { readonly namespace: string; readonly uncredited?: readonly number[] },
): Promise<OutcomeReceipt | undefined> {
  try {
    return await engine.end(episode, outcome, options);
  } catch (error) {
    if (!outcome || !QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
    return engine.report(episode, outcome, { namespace: options.namespace });
  }
}

/**
 * Reports on a run in each namespace that showed it a memory, with the votes on those that it showed.
 *
 * @returns the first receipt
 * @throws as `engine.report`
 */
export async function reportInEach(
  engine: Engine,
  reference: string,
  namespaces: readonly string[],
  outcome: OutcomeInput,
): Promise<OutcomeReceipt> {
  const views = await Promise.all(namespaces.map((namespace) => engine.explain(reference, { namespace })));
  const ofRun = views.filter((view) => view !== undefined);
  const outcomeOf = await outcomePerEpisode(engine, ofRun, outcome);
  const receipts: OutcomeReceipt[] = [];
  for (const { episode, namespace } of ofRun) {
    receipts.push(await engine.report(episode, outcomeOf(episode) ?? outcome, { namespace }));
  }
  return receipts[0] ?? engine.report(reference, outcome, { namespace: namespaces[0] });
}

/** Codes of outcomes that would be refused again. */
const REFUSALS: readonly ErrorCode[] = [
  "NOT_SHOWN",
  "INVALID_REWARD",
  "INVALID_ARGUMENT",
  "INVALID_ID",
  "LIMIT_EXCEEDED",
];

/**
 * Ends an episode with the first outcome that the engine accepts, or with none, so that the exposures are recorded in any case.
 *
 * @throws the first refusal, after the end is recorded, and all other errors of `end`
 */
async function endWith(
  outcomes: readonly (OutcomeInput | undefined)[],
  end: (outcome: OutcomeInput | undefined) => Promise<unknown>,
): Promise<void> {
  const refusals: QavrError[] = [];
  for (const outcome of new Set([...outcomes, undefined])) {
    try {
      await end(outcome);
      break;
    } catch (error) {
      // The exposures are recorded already, and there is no outcome to add.
      if (!outcome && QavrError.isInstance(error, "UNKNOWN_EPISODE")) break;
      if (!outcome || !isRefusal(error)) throw error;
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

function isRefusal(error: unknown): error is QavrError {
  return QavrError.isInstance(error) && REFUSALS.includes(error.code);
}

/**
 * The used memories of each episode. Only those that it has shown in the end: a later stage may have dropped others. Undefined for
 * none.
 */
async function usedPerEpisode(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  texts: RunTexts | undefined,
): Promise<(episode: string) => readonly UsedMemory[] | undefined> {
  const found = texts && findUsed(texts);
  if (!texts || !(found || mayName(texts))) return () => undefined;
  // The run's outcome does not wait for a store that is away.
  const episodes = await shownNames(engine, ofRun).catch(() => []);
  // A resumed run has memories from before, whose handles are known and whose texts are not.
  const before = episodes.flatMap(({ shown }) => [...shown].map(([handle, id]) => ({ id, handle, text: undefined })));
  const known = new Set(texts.memories.map(({ id }) => id));
  const others = before.filter(({ id, handle }) => id !== handle && !known.has(id));
  const memories = [...texts.memories, ...others];
  const used = (others.length > 0 ? findUsed({ ...texts, memories }) : found) ?? [];
  return (episode) => {
    const { shown } = episodes.find((one) => one.episode === episode) ?? {};
    const own = used.filter(({ id }) => shown?.get(id) === id);
    return own.length === 0 ? undefined : own;
  };
}

const NAMED = ["helpful", "harmful", "neutral", "used"] as const;

/**
 * Splits a run's outcome by episode: each gets the names of the memories that it showed. A name that no episode showed stays in
 * every part, so that the engine refuses it.
 */
async function outcomePerEpisode(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  outcome: OutcomeInput | undefined,
): Promise<(episode: string) => OutcomeInput | undefined> {
  if (!outcome || ofRun.length < 2 || NAMED.every((side) => !outcome[side]?.length)) return () => outcome;
  const episodes = await shownNames(engine, ofRun);
  const isKnown = (name: string): boolean => episodes.some(({ shown }) => shown.has(name));
  const parts = new Map(
    episodes.map(({ episode, shown }) => {
      const named = NAMED.flatMap((side) => {
        const names = (outcome[side] as readonly (string | UsedMemory)[] | undefined)?.filter((named) => {
          const name = typeof named === "object" ? named.id : named;
          return shown.has(name) || !isKnown(name);
        });
        return names ? [[side, names] as const] : [];
      });
      return [episode, { ...outcome, ...Object.fromEntries(named) }];
    }),
  );
  return (episode) => parts.get(episode) ?? outcome;
}
