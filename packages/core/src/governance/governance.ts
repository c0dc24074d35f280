import { ABOVE_0, checkFields, type FieldRules, oneOf } from "../errors/field-rules.js";
import { AUDITED_TIERS, CAPPED_TIERS, type SourceCap } from "../ledger/events.js";
import type { Governance } from "../ledger/governance.js";
import { sourceRef } from "../ledger/state-keys.js";
import { auditClaims, setAside } from "./audits.js";
import { chargeSources, credibilityOf, sourcesOf } from "./credibility.js";
import { describeSources } from "./describe-sources.js";
import { reweighClaims } from "./reweigh.js";
import { decodeSource } from "./source-record.js";

export interface GovernanceOptions {
  /**
   * `audited`: an outcome of the tiers user, self-reported and completed counts by its source's agreement with better evidence
   * about the same episodes; the outcomes of a source without an audit do not count. Leave it off unless a share of the episodes gets
   * verified outcomes, unpredictably, and sources are named one by one: without them it switches learning off. @default "off"
   */
  readonly trust?: "off" | "audited" | undefined;
  /**
   * The most that one source of the tiers user and self-reported may credit one memory, as a sum of outcome weights per window (ms).
   * An outcome beyond it does not reach that memory. Leave it off unless sources are named one by one: outcomes without a name share
   * one. @default undefined, no cap
   */
  readonly sourceCaps?: SourceCap | undefined;
}

const made = new Map<string, Governance>();

const RULES: FieldRules<GovernanceOptions> = { trust: oneOf("off", "audited"), sourceCaps: true };
const CAP_RULES: FieldRules<SourceCap> = { weight: ABOVE_0, window: ABOVE_0 };

/**
 * Rules for the trust in sources, for the engine option `governance`. Claims are compared with better evidence also with `trust: "off"`,
 * so that `status()` lists the sources that disagree. All engines of one ledger need it, or none. Equal options give the same object,
 * so that options which are made anew for each run still mean the same engine.
 *
 * @throws INVALID_ARGUMENT
 */
export function governance(options: GovernanceOptions = {}): Governance {
  checkFields("governance", options, RULES);
  const { trust = "off", sourceCaps } = options;
  if (sourceCaps !== undefined) checkFields("sourceCaps", sourceCaps, CAP_RULES, ["weight", "window"]);
  const key = JSON.stringify([trust, sourceCaps?.weight, sourceCaps?.window]);
  const known = made.get(key);
  if (known) return known;
  // A copy: the caller may change its object later.
  const cap = sourceCaps && { ...sourceCaps };
  const rules: Governance = {
    rulesFor: (tier) => ({
      audited: trust === "audited" && AUDITED_TIERS.includes(tier),
      cap: CAPPED_TIERS.includes(tier) ? cap : undefined,
    }),
    *weigh(draft, episode, event, rules) {
      if (rules.audited || rules.cap) yield* draft.load([sourceRef(event.source)]);
      yield* auditClaims(draft, episode, event);
      return credibilityOf(draft, episode, event, rules);
    },
    setAside,
    *chargeExposures(draft, episode, added) {
      yield* draft.load(sourcesOf(episode));
      chargeSources(draft, episode, episode.exposures, added);
    },
    chargeOutcome: (draft, said, exposures) => chargeSources(draft, said, exposures, exposures),
    reweigh: reweighClaims,
    describe(records, now) {
      const decoded = new Map([...records].map(([source, bytes]) => [source, decodeSource(bytes)]));
      return describeSources(decoded, cap, now);
    },
  };
  made.set(key, rules);
  return rules;
}
