import { QavrError } from "../errors/qavr-error.js";
import type { Draft, Loading } from "./draft.js";
import type { Claim, Credibility, EpisodeExposure, EpisodeRecord } from "./episode-record.js";
import type { OutcomeEvent, OutcomeRules, OutcomeTier } from "./events.js";

/**
 * Decides the trust in the source of an outcome. The fold calls it; without it each outcome counts in full.
 * `governance()` of `@qavr/core/governance` makes one.
 */
export interface Governance {
  /** The rules to record with an outcome of a tier. */
  rulesFor(tier: OutcomeTier): OutcomeRules;
  /** Audits claims about the episode, before it takes the outcome in, and returns the trust in the outcome's source. */
  weigh(
    draft: Draft,
    episode: EpisodeRecord,
    event: OutcomeEvent,
    rules: OutcomeRules,
  ): Loading<Credibility | undefined>;
  /** Keeps a claim that does not count (any more) for a later audit: the last of each source, except the one that counts. */
  setAside(episode: EpisodeRecord, claims: readonly [Claim | undefined, Claim | undefined]): void;
  /** Charges the sources of a known outcome for exposures that the episode has gained. */
  chargeExposures(draft: Draft, episode: EpisodeRecord, added: readonly EpisodeExposure[]): Loading;
  /** Charges the sources of a new reward or of new votes for all exposures of the episode. */
  chargeOutcome(
    draft: Draft,
    said: Pick<EpisodeRecord, "reward" | "votes">,
    exposures: readonly EpisodeExposure[],
  ): void;
  /** Weighs earlier claims again, after an audited outcome. */
  reweigh(draft: Draft, episode: string): Loading;
  /** Describes the stored records of sources, by name, for `status()`. */
  describe(records: ReadonlyMap<string, Uint8Array>, now: number): readonly SourceStatus[];
}

/**
 * Why a source deserves a look:
 * - `contradicted`: better evidence mostly disagreed, in five audits or more
 * - `capped`: it has used up its cap for some memory in the present window
 * - `dominant`: it gave more than 30 % of the credit of capped sources in the present window
 */
export type SourceFlag = "contradicted" | "capped" | "dominant";

/** How well a source's claims agreed with better evidence, and how much it has credited. */
export interface SourceStatus {
  readonly source: string;
  /** In [0, 1]: how far its outcomes count with `trust: "audited"`. */
  readonly trust: number;
  readonly audits: number;
  /** Recent share of agreement, in [0, 1]; 0.5 before any audit. */
  readonly agreement: number;
  /** Sum of weights that it has credited to memories in the present window, with `sourceCaps`; 0 without. */
  readonly credited: number;
  readonly flags: readonly SourceFlag[];
}

/** @throws UNSUPPORTED for an engine without governance: its fold would differ from that of the engine that recorded the outcome */
export function required(governance: Governance | undefined): Governance {
  if (governance) return governance;
  throw new QavrError("UNSUPPORTED", "This outcome needs governance() of @qavr/core/governance in createEngine.");
}
