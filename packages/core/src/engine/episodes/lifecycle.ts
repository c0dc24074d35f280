import { checkFields } from "../../errors/field-rules.js";
import { QavrError } from "../../errors/qavr-error.js";
import type { LedgerEntry } from "../../store/store.js";
import { NAME } from "../check.js";
import type { EngineParts } from "../parts.js";
import type { RecordedReceipt } from "../recorder.js";
import type { Engine } from "../types.js";
import { openEpisode } from "./find-episode.js";
import type { OpenEpisode } from "./open-episodes.js";

/** Overdue episodes that are recorded at once. */
const SWEPT_TOGETHER = 100;
/** Open episodes beyond the limit that may wait to be recorded; further ones are dropped. */
const OVERFLOW = 1_000;

export interface EpisodeLifecycle extends Pick<Engine, "suspend"> {
  /** Writes the rest of an episode, then removes it from the open ones. */
  close(
    episode: OpenEpisode,
    state: "ended" | "suspended" | "abandoned",
    outcome?: LedgerEntry,
    suspendedAs?: string,
  ): Promise<RecordedReceipt | undefined>;
  /** Remembers an outcome until its commit is known to have succeeded. */
  keepUnsent<Result>(episode: OpenEpisode, outcome: LedgerEntry | undefined, writing: Promise<Result>): Promise<Result>;
  /** Records overdue episodes. Never rejects. */
  sweep(): Promise<void>;
  /** Holds the limit of open episodes also in a process that never writes. @param limit of open episodes */
  enforceLimit(limit: number): void;
  /** Records every open episode as abandoned. Never rejects. */
  abandonAll(): Promise<void>;
}

export function createEpisodeLifecycle(parts: EngineParts): EpisodeLifecycle {
  const { open, recorder, now, log } = parts;
  let sweeping = false;

  const lifecycle: EpisodeLifecycle = {
    async close(episode, state, outcome, suspendedAs) {
      const writing = this.keepUnsent(episode, outcome, recorder.record(episode, state, outcome, suspendedAs));
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
    },

    async keepUnsent(episode, outcome, writing) {
      try {
        const receipt = await writing;
        if (outcome && episode.unsentOutcome === outcome) episode.unsentOutcome = undefined;
        return receipt;
      } catch (error) {
        // Another process owns it.
        if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) open.remove(episode);
        if (outcome && !QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) episode.unsentOutcome = outcome;
        throw error;
      }
    },

    async suspend(id, options) {
      checkFields("suspend", options, { alias: NAME }, ["alias"]);
      if (!parts.enabled) return;
      const episode = openEpisode(open, undefined, id);
      await this.close(episode, "suspended", undefined, options.alias);
    },

    async sweep() {
      await abandonSome(open.overdue(now()));
    },

    enforceLimit(limit) {
      if (open.size <= limit) return;
      // Memory stays bounded also while the store is slower than the runs, or does not answer.
      for (const episode of open.oldest(open.size - limit - OVERFLOW)) lose(parts, episode, "LIMIT_EXCEEDED");
      if (sweeping) return;
      sweeping = true;
      void parts.tasks.track(sweepAll());
    },

    async abandonAll() {
      const left = await abandonSome(open.all());
      // The store is out of reach, so the rest is lost.
      for (const episode of left) lose(parts, episode, "STORE_UNAVAILABLE");
    },
  };
  return lifecycle;

  async function sweepAll(): Promise<void> {
    // Each sweep records or drops the first of them.
    while (open.overdue(now()).length > 0) await lifecycle.sweep();
    sweeping = false;
  }

  /**
   * Records episodes as abandoned: together, so that they share transactions, and in lots, to bound the load on the store. Stops
   * where the store is out of reach and returns the episodes that are left.
   */
  async function abandonSome(episodes: readonly OpenEpisode[]): Promise<readonly OpenEpisode[]> {
    for (let start = 0; start < episodes.length; start += SWEPT_TOGETHER) {
      const end = start + SWEPT_TOGETHER;
      const lost = await Promise.all(episodes.slice(start, end).map(abandon));
      if (lost.every(Boolean)) return episodes.slice(end);
    }
    return [];
  }

  /** Records an episode as abandoned; drops it and returns true when that fails. Never rejects. */
  async function abandon(episode: OpenEpisode): Promise<boolean> {
    const isOpen = (): boolean => open.get(episode.id) === episode;
    // It may have ended, or another sweep may have taken it, while the ones before it were written.
    if (episode.closing || !isOpen()) return false;
    try {
      await lifecycle.close(episode, "abandoned");
      log("debug", "An episode never ended: it is recorded as abandoned.", {
        code: "EPISODE_ABANDONED",
        episode: episode.id,
        namespace: episode.namespace,
      });
      return false;
    } catch (error) {
      if (!isOpen()) return false;
      lose(parts, episode, error);
      return true;
    }
  }
}

/** Drops an episode that could not be recorded, and logs it: memory stays bounded. */
function lose({ open, log, counters }: EngineParts, episode: OpenEpisode, error: unknown): void {
  open.remove(episode);
  counters.lost += 1;
  log("error", "An episode could not be recorded.", {
    code: "EPISODE_LOST",
    episode: episode.id,
    namespace: episode.namespace,
    reason: QavrError.isInstance(error) ? error.code : String(error),
  });
}
