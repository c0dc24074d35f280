import { checkOptions, type FieldsOf } from "../errors/known-fields.js";
import { printed, quoted } from "../errors/printed.js";
import { QavrError } from "../errors/qavr-error.js";
import type { EpisodeRecord } from "../ledger/episode-record.js";
import { plainest } from "../ledger/used.js";
import type { LedgerEntry } from "../store/store.js";
import { assertName, sameBytes } from "../store/validate.js";
import { type CheckedOutcome, checkOutcome, DEFAULT_NAME, ONLY_NAMESPACE } from "./check.js";
import { findEpisode, openEpisode, unknownEpisode } from "./episodes/find-episode.js";
import type { EpisodeLifecycle } from "./episodes/lifecycle.js";
import type { OpenEpisode } from "./episodes/open-episodes.js";
import { resolveShown, type Shown, shownIn, shownInRecord } from "./episodes/shown.js";
import type { EngineParts } from "./parts.js";
import { toEntry } from "./recorder.js";
import type { EndOptions, Engine, OutcomeReceipt } from "./types.js";

const DAY = 86_400_000;
const END_OPTIONS: FieldsOf<EndOptions> = { namespace: true, uncredited: true };

export function createOutcomes(parts: EngineParts, episodes: EpisodeLifecycle): Pick<Engine, "end" | "report"> {
  const { open, recorder, states, queue } = parts;

  return {
    async end(id, input, options = {}) {
      if (!parts.enabled) return undefined;
      const checked = input === undefined ? undefined : checkOutcome(input);
      checkOptions(options, "end", END_OPTIONS);
      const episode = openEpisode(open, options.namespace, id);
      const uncredited = exposuresIn(options.uncredited);
      const entry = checked && openOutcomeEntry(episode, checked);
      const earlier = episode.earlier?.exposures.length ?? 0;
      for (const exposure of uncredited) {
        const target = episode.exposures[exposure - earlier];
        if (target) target.credited = false;
      }
      // An episode that showed nothing credits nothing. An earlier report about it is on record; then the better tier counts.
      const outcome = earlier + episode.exposures.length > 0 || episode.recordedState ? entry : undefined;
      const receipt = await episodes.close(episode, "ended", outcome);
      await episodes.sweep();
      return receipt && checked && answer(episode.namespace, checked, episode.id, receipt);
    },

    async report(reference, input, options = {}) {
      const checked = checkOutcome(input);
      assertName(reference, "episode id or alias");
      checkOptions(options, "report", ONLY_NAMESPACE);
      const { namespace = DEFAULT_NAME } = options;
      assertName(namespace, "namespace");
      if (!parts.enabled) return ignored(reference);
      return findEpisode(open, namespace, reference, recorded, {
        async open(episode) {
          const entry = openOutcomeEntry(episode, checked);
          open.touch(episode, parts.now());
          const writing = recorder.record(episode, "open", entry);
          const receipt = await episodes.keepUnsent(episode, entry, writing);
          return answer(namespace, checked, episode.id, receipt);
        },
        recorded: async (found) => {
          if (!found) throw unknownEpisode(reference, namespace);
          assertInTime(found.id, found.record);
          const entry = outcomeEntry(found.id, checked, shownInRecord(found.record));
          const receipt = await recorder.commitOutcome(namespace, entry);
          await episodes.sweep();
          return answer(namespace, checked, found.id, receipt);
        },
      });
    },
  };

  /** The recorded episode, after a drain of the outbox if need be. @throws STORE_UNAVAILABLE while it may still wait there */
  async function recorded(namespace: string, reference: string): ReturnType<typeof states.resolve> {
    const found = await states.resolve(namespace, reference);
    if (found || !queue || queue.health().queued === 0) return found;
    await queue.drain();
    const passedOn = await states.resolve(namespace, reference);
    const waiting = queue.health().queued;
    if (passedOn || waiting === 0) return passedOn;
    throw new QavrError(
      "STORE_UNAVAILABLE",
      `Episode ${reference} is not in the store, but ${waiting} commits wait in the outbox and it may be among them. Repeat this when the store is back.`,
      { details: { reference, waiting } },
    );
  }

  async function answer(
    namespace: string,
    outcome: CheckedOutcome,
    episode: string,
    receipt: { readonly status: string; readonly seq: number } | undefined,
  ): Promise<OutcomeReceipt> {
    const status = receipt?.status === "duplicate" || receipt?.status === "queued" ? receipt.status : "committed";
    if (status === "committed") await logCaps(namespace, episode, outcome);
    return { status, episode, seq: receipt?.seq ?? 0 };
  }

  /** The outcome as an entry: the one that could not be sent before, if it says the same. */
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
    const uses = used && plainest(used.map(({ id, by }) => ({ id: resolveShown(id, shown, episode), by })));
    const helpful = ids(outcome.helpful);
    const harmful = ids(outcome.harmful);
    const neutral = ids(outcome.neutral);
    const named = [...helpful, ...harmful, ...neutral];
    const both = named.find((id, place) => named.indexOf(id) !== place);
    if (both !== undefined) {
      throw new QavrError(
        "INVALID_ARGUMENT",
        `The outcome gives memory ${both} two votes. Name it in one of helpful, harmful and neutral.`,
        { details: { episode, memory: both } },
      );
    }
    const rules = parts.governance?.rulesFor(said.tier);
    return toEntry(
      idempotencyKey === undefined ? `outcome:${episode}:${parts.createId()}` : `outcome:key:${idempotencyKey}`,
      { ...said, rules, type: "outcome", episode, helpful, harmful, neutral, used: uses },
      parts.now(),
    );
  }

  /** Logs when a source was beyond its cap. Diagnosis only: a failing read is ignored. */
  async function logCaps(namespace: string, episode: string, { tier, source }: CheckedOutcome): Promise<void> {
    if (!parts.governance?.rulesFor(tier).cap) return;
    const record = await states.episode(namespace, episode).catch(() => undefined);
    const parties = [record?.reward, ...(record?.votes ?? [])].map((part) => part?.credibility);
    const memories = parties.findLast((known) => known?.source === source)?.capped.length ?? 0;
    if (memories === 0) return;
    parts.log(
      "warn",
      `Source ${source} has credited some memories as much as one source may: its outcome does not reach them.`,
      { code: "SOURCE_CAPPED", namespace, episode, source, memories },
    );
  }

  function assertInTime(episode: string, record: EpisodeRecord): void {
    const { outcomeWindow } = parts;
    const age = parts.now() - record.lastAt;
    if (age <= outcomeWindow) return;
    throw new QavrError(
      "OUTCOME_TOO_LATE",
      `Episode ${episode} ended ${Math.floor(age / DAY)} days ago; outcomes are accepted for ${outcomeWindow / DAY}. Raise outcomeWindow if later feedback is meant.`,
      { details: { episode, age, window: outcomeWindow } },
    );
  }
}

/** Returns the receipt of an outcome that was not written. */
export function ignored(episode: string): OutcomeReceipt {
  return { status: "ignored", episode, seq: 0 };
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
 * Refuses a value that is no place of an exposure. A place that the episode does not have is legal: an unrecorded ranking has −1.
 *
 * @throws INVALID_ARGUMENT
 */
export function assertExposure(exposure: unknown): asserts exposure is number {
  if (Number.isInteger(exposure)) return;
  throw new QavrError(
    "INVALID_ARGUMENT",
    `An exposure is named by its place in its episode, as in Ranking.exposure. Received ${quoted(exposure)}.`,
    { details: { received: printed(exposure) } },
  );
}
