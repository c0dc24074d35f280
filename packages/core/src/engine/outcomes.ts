import { checkFields, type FieldRules } from "../errors/field-rules.js";
import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import { plainest } from "../ledger/used.js";
import type { LedgerEntry } from "../store/store.js";
import { assertName, sameBytes } from "../store/validate.js";
import { type CheckedOutcome, checkOutcome, DEFAULT_NAME, NAME, namespaceIn } from "./check.js";
import { findEpisode, openEpisode } from "./episodes/find-episode.js";
import type { EpisodeLifecycle } from "./episodes/lifecycle.js";
import type { OpenEpisode, Shown } from "./episodes/open-episodes.js";
import { resolveShown, shownIn, shownInRecord } from "./episodes/shown.js";
import type { EngineParts } from "./parts.js";
import { outcomeKey, type RecordedReceipt, toEntry } from "./recorder.js";
import type { EndOptions, Engine, OutcomeReceipt } from "./types.js";

const END_OPTIONS: FieldRules<EndOptions> = {
  namespace: NAME,
  uncredited: [Array.isArray, "an array of exposures, as in [ranking.exposure]"],
};

export function createOutcomes(parts: EngineParts, episodes: EpisodeLifecycle): Pick<Engine, "end" | "report"> {
  const { open, recorder, states, queue } = parts;

  return {
    async end(id, input, options = {}) {
      if (!parts.enabled) return undefined;
      const checked = input === undefined ? undefined : checkOutcome(input);
      checkFields("end", options, END_OPTIONS);
      const { uncredited = [], namespace = open.get(id)?.namespace ?? DEFAULT_NAME } = options;
      for (const exposure of uncredited) assertExposure(exposure);
      const ended = await accepted(namespace, id, checked, async (forgotten) => {
        const episode = openEpisode(open, options.namespace, id);
        const entry = checked && openOutcomeEntry(episode, checked, forgotten);
        const earlier = episode.earlier?.exposures.length ?? 0;
        for (const exposure of uncredited) {
          const target = episode.exposures[exposure - earlier];
          if (target) target.credited = false;
        }
        // An episode that showed nothing credits nothing. An earlier report about it is on record; then the better tier counts.
        const outcome = earlier + episode.exposures.length > 0 || episode.recordedState ? entry : undefined;
        const receipt = await episodes.close(episode, "ended", outcome);
        return receipt && checked && answer(episode.namespace, checked, episode.id, receipt);
      });
      // The episode is still open if its outcome was refused because it had been recorded before.
      const left = open.find(namespace, id);
      if (left && !left.closing) await episodes.close(left, "ended");
      await episodes.sweep();
      return ended;
    },

    async report(reference, input, options) {
      const checked = checkOutcome(input);
      assertName(reference, "episode id or alias");
      const namespace = namespaceIn("report", options);
      if (!parts.enabled) return ignored(reference);
      return accepted(namespace, reference, checked, (forgotten) =>
        findEpisode(open, namespace, reference, recorded, {
          async open(episode) {
            const entry = openOutcomeEntry(episode, checked, forgotten);
            open.touch(episode, parts.now());
            const writing = recorder.record(episode, "open", entry);
            const receipt = await episodes.keepUnsent(episode, entry, writing);
            return answer(namespace, checked, episode.id, receipt as RecordedReceipt);
          },
          recorded: async (found) => {
            if (!found || parts.now() - found.record.lastAt > parts.outcomeWindow) {
              return (await import("./on-first-use.js")).refuseReport(parts, namespace, reference, found);
            }
            const entry = outcomeEntry(found.id, checked, shownInRecord(found.record), forgotten);
            const receipt = await recorder.commit(namespace, entry);
            await episodes.sweep();
            return answer(namespace, checked, found.id, receipt);
          },
        }),
      );
    },
  };

  /** Does the work of an outcome; after a refusal it checks whether the outcome is recorded already. */
  async function accepted<Receipt>(
    namespace: string,
    reference: string,
    outcome: CheckedOutcome | undefined,
    work: (forgotten: readonly string[]) => Promise<Receipt>,
  ): Promise<Receipt | OutcomeReceipt> {
    try {
      return await work([]);
    } catch (error) {
      if (!outcome) throw error;
      return (await import("./on-first-use.js")).reconsidered(parts, namespace, reference, outcome, error, work);
    }
  }

  /** The recorded episode, after a drain of the outbox if need be. @throws STORE_UNAVAILABLE while it may still wait there */
  async function recorded(namespace: string, reference: string): ReturnType<typeof states.resolve> {
    const found = await states.resolve(namespace, reference);
    if (found || !queue) return found;
    return (await import("./on-first-use.js")).afterDraining(parts, queue, namespace, reference);
  }

  async function answer(
    namespace: string,
    outcome: CheckedOutcome,
    episode: string,
    { status, seq }: RecordedReceipt,
  ): Promise<OutcomeReceipt> {
    if (status === "committed" && parts.governance?.rulesFor(outcome.tier).cap) {
      await (await import("./on-first-use.js")).logCaps(parts, namespace, episode, outcome);
    }
    return { status, episode, seq };
  }

  /** The outcome as an entry: the one that could not be sent before, if it says the same. */
  function openOutcomeEntry(episode: OpenEpisode, outcome: CheckedOutcome, forgotten: readonly string[]): LedgerEntry {
    const entry = outcomeEntry(episode.id, outcome, shownIn(episode), forgotten);
    const { unsentOutcome } = episode;
    const same =
      unsentOutcome && outcome.idempotencyKey === undefined && sameBytes(unsentOutcome.payload, entry.payload);
    return same ? unsentOutcome : entry;
  }

  /** @param forgotten names that are left out: the outcome credits the others */
  function outcomeEntry(
    episode: string,
    outcome: CheckedOutcome,
    shown: readonly Shown[],
    forgotten: readonly string[],
  ): LedgerEntry {
    const ids = (names: readonly string[]): string[] => [
      ...new Set(names.filter((name) => !forgotten.includes(name)).map((name) => resolveShown(name, shown, episode))),
    ];
    const { idempotencyKey, used, ...said } = outcome;
    const uses = used && plainest(used.flatMap(({ id, by }) => ids([id]).map((known) => ({ id: known, by }))));
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
      idempotencyKey === undefined ? parts.createId() : outcomeKey(idempotencyKey),
      { ...said, rules, type: "outcome", episode, helpful, harmful, neutral, used: uses },
      parts.now(),
    );
  }
}

/** Returns the receipt of an outcome that was not written. */
export function ignored(episode: string): OutcomeReceipt {
  return { status: "ignored", episode, seq: 0 };
}

/**
 * Refuses a value that is no place of an exposure. A place that the episode does not have is legal: an unrecorded ranking has −1.
 *
 * @throws INVALID_ARGUMENT
 */
export function assertExposure(exposure: unknown): asserts exposure is number {
  if (Number.isInteger(exposure)) return;
  throw illegalOption("exposure", "An exposure is named by its place in its episode, as in Ranking.exposure", exposure);
}
