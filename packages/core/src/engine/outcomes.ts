import { checkFields, checkOptions, type FieldsOf } from "../errors/known-fields.js";
import { printed, quoted } from "../errors/printed.js";
import { QavrError } from "../errors/qavr-error.js";
import type { EpisodeRecord } from "../ledger/episode-record.js";
import { AUDITED_TIERS, CAPPED_TIERS, type OutcomeEvent, type OutcomeTier } from "../ledger/events.js";
import type { LedgerEntry } from "../store/store.js";
import { assertName, sameBytes } from "../store/validate.js";
import { type CheckedOutcome, checkOutcome, DEFAULT_NAME } from "./check.js";
import type { EngineContext } from "./context.js";
import { ONLY_NAMESPACE } from "./engine-options.js";
import { findEpisode } from "./find-episode.js";
import type { OpenEpisode } from "./open-episodes.js";
import type { RecordReceipt } from "./outcome-spool.js";
import { openEpisode } from "./rank.js";
import { toEntry } from "./recorder.js";
import type { EndOptions, OutcomeInput, OutcomeReceipt } from "./types.js";

export interface Outcomes {
  end(episode: string, outcome?: OutcomeInput, options?: EndOptions): Promise<OutcomeReceipt | undefined>;
  report(
    reference: string,
    outcome: OutcomeInput,
    options?: { readonly namespace?: string | undefined },
  ): Promise<OutcomeReceipt>;
  park(episode: string, options: { readonly alias: string }): Promise<void>;
  resume(alias: string, options?: { readonly namespace?: string | undefined }): Promise<string | undefined>;
  /** Records episodes past their time. Never rejects. */
  sweep(): Promise<void>;
  /** Records every open episode as abandoned. Never rejects. */
  abandonAll(): Promise<void>;
}

/** A memory that an episode showed, by its id and its short name. */
interface Shown {
  readonly id: string;
  readonly handle: string;
}

const END_OPTIONS: FieldsOf<EndOptions> = { namespace: true, uncredited: true };

/** Episodes past their time that are recorded at once. */
const SWEPT_TOGETHER = 100;

export function createOutcomes(context: EngineContext): Outcomes {
  const { open, recorder, states } = context;

  return {
    async end(id, input, options = {}) {
      if (!context.enabled) return undefined;
      const checked = input === undefined ? undefined : checkOutcome(input);
      checkOptions(options, "end", END_OPTIONS);
      const episode = openEpisode(context, options.namespace, id);
      const uncredited = exposuresIn(options.uncredited);
      const entry = checked && openOutcomeEntry(episode, checked);
      const earlier = episode.earlier?.exposures.length ?? 0;
      for (const exposure of uncredited) {
        const target = episode.exposures[exposure - earlier];
        if (target) target.credited = false;
      }
      // Nothing was shown: there is nobody to credit. Where somebody has spoken about it all the same, the better word counts.
      const last = earlier + episode.exposures.length > 0 || episode.recordedState ? entry : undefined;
      const receipt = await close(episode, "ended", last);
      await this.sweep();
      return receipt && checked && answer(episode.namespace, checked, episode.id, receipt);
    },

    async report(reference, input, options = {}) {
      const checked = checkOutcome(input);
      assertName(reference, "episode id or alias");
      checkOptions(options, "report", ONLY_NAMESPACE);
      const { namespace = DEFAULT_NAME } = options;
      assertName(namespace, "namespace");
      if (!context.enabled) return ignored(reference);
      return findEpisode(open, namespace, reference, recorded, {
        async open(episode) {
          const entry = openOutcomeEntry(episode, checked);
          open.touch(episode, context.now());
          const receipt = await keepUnsent(episode, entry, recorder.record(episode, "open", entry));
          return answer(namespace, checked, episode.id, receipt);
        },
        recorded: async (found) => {
          if (!found) throw unknownEpisode(reference, namespace);
          assertInTime(found.id, found.record);
          const entry = outcomeEntry(found.id, checked, shownInRecord(found.record));
          const receipt = await recorder.commitOutcome(namespace, entry);
          await this.sweep();
          return answer(namespace, checked, found.id, receipt);
        },
      });
    },

    async park(id, options) {
      checkFields(options, "What to park under", "park has no option", { alias: true });
      const { alias } = options;
      assertName(alias, "alias");
      if (!context.enabled) return;
      const episode = openEpisode(context, undefined, id);
      await close(episode, "parked", undefined, alias);
    },

    async resume(alias, options = {}) {
      assertName(alias, "alias");
      checkOptions(options, "resume", ONLY_NAMESPACE);
      const { namespace = DEFAULT_NAME } = options;
      assertName(namespace, "namespace");
      if (!context.enabled) return undefined;
      // A retrieval waits for it.
      const found = await context.scoringStates.resolve(namespace, alias);
      if (found?.record.state !== "parked" || found.record.parkedAs !== alias) return undefined;
      // Nothing that is reported about it would be accepted any more.
      if (context.now() - found.record.lastAt > context.outcomeWindow) return undefined;
      const already = open.get(found.id);
      if (already?.namespace === namespace) return already.id;
      return open.create(found.id, namespace, context.now(), found.record).id;
    },

    async sweep() {
      await abandonSome(open.overdue(context.now()));
    },

    async abandonAll() {
      for (const episode of await abandonSome(open.all())) loseEpisode(context, episode, outOfReach());
    },
  };

  /**
   * Records episodes as abandoned: together, so that they share transactions, and a few at a time, so that a store is not asked for
   * all of them at once. Stops where the store is out of reach and returns those that are left.
   */
  async function abandonSome(episodes: readonly OpenEpisode[]): Promise<readonly OpenEpisode[]> {
    for (let start = 0; start < episodes.length; start += SWEPT_TOGETHER) {
      const end = start + SWEPT_TOGETHER;
      const lost = await Promise.all(episodes.slice(start, end).map(abandon));
      if (lost.every(Boolean)) return episodes.slice(end);
    }
    return [];
  }

  /** Records an episode as abandoned, or lets go of it and returns true. Never rejects. */
  async function abandon(episode: OpenEpisode): Promise<boolean> {
    const isOpen = (): boolean => open.get(episode.id) === episode;
    // Ended, or taken up by another sweep, while the ones before it were written.
    if (episode.closing || !isOpen()) return false;
    try {
      await close(episode, "abandoned");
      context.log("debug", "An episode was never ended and is recorded as abandoned.", {
        code: "EPISODE_ABANDONED",
        episode: episode.id,
        namespace: episode.namespace,
      });
      return false;
    } catch (error) {
      if (!isOpen()) return false;
      // Bounded memory comes first: what cannot be written now is lost, and said so.
      loseEpisode(context, episode, error);
      return true;
    }
  }

  /** The recorded episode, which may have waited in the spool until now. @throws STORE_UNAVAILABLE when it may wait there still */
  async function recorded(namespace: string, reference: string): ReturnType<typeof states.resolve> {
    const found = await states.resolve(namespace, reference);
    const { spool, counters } = context;
    if (found || !spool || counters.spooled === 0) return found;
    await spool.drain();
    const passedOn = await states.resolve(namespace, reference);
    if (!passedOn && counters.spooled > 0) throw mayWait(reference, counters.spooled);
    return passedOn;
  }

  async function answer(
    namespace: string,
    outcome: CheckedOutcome,
    episode: string,
    receipt: RecordReceipt | undefined,
  ): Promise<OutcomeReceipt> {
    const answer = { status: answered(receipt?.status), episode, seq: receipt?.seq ?? 0 };
    await noteCaps(namespace, answer, outcome);
    return answer;
  }

  /** Writes what is left of an episode; it leaves the open ones when the store has acknowledged. */
  async function close(
    episode: OpenEpisode,
    state: "ended" | "parked" | "abandoned",
    last?: LedgerEntry,
    parkedAs?: string,
  ): ReturnType<typeof recorder.record> {
    const writing = keepUnsent(episode, last, recorder.record(episode, state, last, parkedAs));
    episode.closing = writing;
    try {
      const receipt = await writing;
      open.remove(episode);
      return receipt;
    } catch (error) {
      // A refused outcome key does not bring the episode back: its exposures are recorded.
      if (QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) open.remove(episode);
      throw error;
    } finally {
      episode.closing = undefined;
    }
  }

  /** Remembers an outcome while nobody knows whether it is recorded. */
  async function keepUnsent<T>(
    episode: OpenEpisode,
    outcome: LedgerEntry | undefined,
    writing: Promise<T>,
  ): Promise<T> {
    try {
      const receipt = await writing;
      if (outcome && episode.unsentOutcome === outcome) episode.unsentOutcome = undefined;
      return receipt;
    } catch (error) {
      if (outcome && !QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) episode.unsentOutcome = outcome;
      throw error;
    }
  }

  /** The outcome as an entry; the one that could not be sent before, if it says the same. */
  function openOutcomeEntry(episode: OpenEpisode, outcome: CheckedOutcome): LedgerEntry {
    const entry = outcomeEntry(episode.id, outcome, shownIn(episode));
    const { unsentOutcome } = episode;
    const same =
      unsentOutcome && outcome.idempotencyKey === undefined && sameBytes(unsentOutcome.payload, entry.payload);
    return same ? unsentOutcome : entry;
  }

  function outcomeEntry(episode: string, outcome: CheckedOutcome, shown: readonly Shown[]): LedgerEntry {
    const ids = (names: readonly string[]): string[] => [
      ...new Set(names.map((name) => resolveShown(name, shown, episode))),
    ];
    const { idempotencyKey, used, ...said } = outcome;
    const helpful = ids(outcome.helpful);
    const harmful = ids(outcome.harmful);
    const both = helpful.find((id) => harmful.includes(id));
    if (both !== undefined) {
      throw new QavrError(
        "INVALID_ARGUMENT",
        `The outcome names memory ${both} both as helpful and as harmful. Choose one.`,
        {
          details: { episode, memory: both },
        },
      );
    }
    return toEntry(
      idempotencyKey === undefined ? `outcome:${episode}:${context.createId()}` : `outcome:key:${idempotencyKey}`,
      { ...said, ...rulesFor(said.tier), type: "outcome", episode, helpful, harmful, used: used && ids(used) },
      context.now(),
    );
  }

  /** How far outcomes of a tier are believed: recorded with each, so that a replay under other options gives the same state. */
  function rulesFor(tier: OutcomeTier): Pick<OutcomeEvent, "audited" | "cap"> {
    return {
      audited: context.trust === "audited" && AUDITED_TIERS.includes(tier),
      cap: CAPPED_TIERS.includes(tier) ? context.sourceCaps : undefined,
    };
  }

  /** Says when a source was beyond its cap. Diagnosis only: what cannot be read now is not said. */
  async function noteCaps(
    namespace: string,
    { status, episode }: OutcomeReceipt,
    { tier, source }: CheckedOutcome,
  ): Promise<void> {
    if (status !== "committed" || !rulesFor(tier).cap) return;
    const record = await states.episode(namespace, episode).catch(() => undefined);
    const standing = [record?.reward?.standing, record?.votes?.standing].find((known) => known?.source === source);
    if (!standing || standing.capped.length === 0) return;
    context.log(
      "warn",
      `Source ${source} has credited some memories as much as one source may: its outcome does not reach them.`,
      {
        code: "SOURCE_CAPPED",
        namespace,
        episode,
        source,
        memories: standing.capped.length,
      },
    );
  }

  function assertInTime(episode: string, record: EpisodeRecord): void {
    const age = context.now() - record.lastAt;
    if (age <= context.outcomeWindow) return;
    throw new QavrError(
      "OUTCOME_TOO_LATE",
      `Episode ${episode} ended ${Math.floor(age / 86_400_000)} days ago; outcomes are accepted for ${context.outcomeWindow / 86_400_000}. Raise outcomeWindow if later feedback is meant.`,
      { details: { episode, age, window: context.outcomeWindow } },
    );
  }
}

/** Exposures that an end names. @throws INVALID_ARGUMENT */
function exposuresIn(named: unknown): readonly number[] {
  if (named === undefined) return [];
  if (!Array.isArray(named)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `end: uncredited must be an array of exposures, as in [ranking.exposure]. Received ${quoted(named)}.`,
    );
  }
  for (const exposure of named) assertExposure(exposure);
  return named;
}

/**
 * Refuses what is no place of an exposure and would silently change nothing. A place that an episode does not have is none of these: an
 * unrecorded ranking has −1.
 *
 * @throws INVALID_ARGUMENT
 */
export function assertExposure(exposure: unknown): asserts exposure is number {
  if (Number.isInteger(exposure)) return;
  throw new QavrError(
    "INVALID_ARGUMENT",
    `An exposure is named by its place in its episode, as Ranking.exposure says it. Received ${quoted(exposure)}.`,
    { details: { received: printed(exposure) } },
  );
}

/** Lets go of an episode that could not be recorded, and says so. */
export function loseEpisode({ open, log, counters }: EngineContext, episode: OpenEpisode, error: unknown): void {
  open.remove(episode);
  counters.lost += 1;
  log("error", "An abandoned episode could not be recorded.", {
    code: "EPISODE_LOST",
    episode: episode.id,
    namespace: episode.namespace,
    reason: QavrError.isInstance(error) ? error.code : String(error),
  });
}

function outOfReach(): QavrError {
  return new QavrError("STORE_UNAVAILABLE", "The store could not be reached for the episodes before this one either.");
}

function shownIn(episode: OpenEpisode): Shown[] {
  return [
    ...(episode.earlier ? shownInRecord(episode.earlier) : []),
    ...episode.exposures.flatMap(({ shown, ids }) =>
      shown.map(({ candidate, handle }) => ({ id: ids[candidate] as string, handle: `m${handle}` })),
    ),
  ];
}

function shownInRecord(record: EpisodeRecord): Shown[] {
  return record.exposures.flatMap(({ items }) => items.map(({ id, handle }) => ({ id, handle: `m${handle}` })));
}

/** A memory's id for its id or short name. An id that looks like a short name is taken as the id. */
function resolveShown(name: string, shown: readonly Shown[], episode: string): string {
  if (shown.some(({ id }) => id === name)) return name;
  const byHandle = shown.find(({ handle }) => handle === name);
  if (byHandle) return byHandle.id;
  throw new QavrError(
    "NOT_SHOWN",
    `Episode ${episode} did not show a memory ${name}. Name only memories that it showed, by id or short name.`,
    { details: { episode, memory: name, shown: shown.map(({ id }) => id) } },
  );
}

function unknownEpisode(reference: string, namespace: string): QavrError {
  return new QavrError(
    "UNKNOWN_EPISODE",
    `No episode ${reference} is open or recorded in namespace ${namespace}, or the run was shown no memory. Check the run id, and name the namespace it ran in.`,
    { details: { reference, namespace } },
  );
}

function mayWait(reference: string, waiting: number): QavrError {
  return new QavrError(
    "STORE_UNAVAILABLE",
    `Episode ${reference} is not in the store, but ${waiting} commits wait in the spool and it may be among them. Repeat this when the store is back.`,
    { details: { reference, waiting } },
  );
}

/** The answer to a report that nobody keeps. */
export function ignored(episode: string): OutcomeReceipt {
  return { status: "ignored", episode, seq: 0 };
}

function answered(status: RecordReceipt["status"] | undefined): "committed" | "duplicate" | "spooled" {
  return status === "duplicate" || status === "spooled" ? status : "committed";
}
