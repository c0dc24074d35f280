import { audited, trustOf } from "../credit/trust.js";
import { textHash } from "../embedding/text-hash.js";
import type { Draft, Loading } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import { AUDITED_TIERS, OUTCOME_TIERS, type OutcomeEvent, type OutcomeTier } from "./events.js";
import { sourceRef } from "./state-keys.js";

/** Keeps names of sources apart from other texts. */
const SEED = 0xa0d1;
/** Sources that one episode may audit; whoever comes later is not. Bounds the episode's record. */
const AUDITS_PER_EPISODE = 16;

interface Claim {
  readonly source: string;
  readonly tier: OutcomeTier;
  readonly reward: number;
}

/**
 * Holds a claim against better evidence: when an episode that has a reward gets another one of another tier, the weaker of the two
 * is audited by the stronger, in either order of arrival. One source is audited once per episode (who could repeat a claim could
 * earn trust by repeating it), and never by itself. A judge counts as far as it is trusted itself.
 *
 * To be called before the episode takes the outcome in.
 */
export function* auditClaims<Shared, Memory>(
  draft: Draft<Shared, Memory>,
  { reward: known, audits }: EpisodeRecord,
  { source, tier, reward }: OutcomeEvent,
): Loading {
  if (!known || reward === null || tier === known.tier || source === known.source) return;
  const said: Claim = { source, tier, reward };
  const [judge, claim] = rankOf(tier) < rankOf(known.tier) ? [said, known] : [known, said];
  const name = textHash(claim.source, SEED);
  if (!AUDITED_TIERS.includes(claim.tier) || audits.includes(name) || audits.length >= AUDITS_PER_EPISODE) return;
  yield* draft.load([sourceRef(claim.source), sourceRef(judge.source)]);
  const weight = AUDITED_TIERS.includes(judge.tier) ? trustOf(draft.source(judge.source).trust) : 1;
  if (weight === 0) return;
  const record = draft.changeSource(claim.source);
  record.trust = audited(record.trust, 1 - Math.abs(claim.reward - judge.reward), weight);
  record.audits += 1;
  audits.push(name);
}

function rankOf(tier: OutcomeTier): number {
  return OUTCOME_TIERS.indexOf(tier);
}
