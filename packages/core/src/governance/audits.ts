import { textHash } from "../embedding/text-hash.js";
import type { Draft, Loading } from "../ledger/draft.js";
import type { Claim, EpisodeRecord } from "../ledger/episode-record.js";
import { AUDITED_TIERS, OUTCOME_TIERS, type OutcomeEvent } from "../ledger/events.js";
import { sourceRef } from "../ledger/state-keys.js";
import { keepSource, sourceOf } from "./source-record.js";
import { audited, trustOf } from "./trust.js";

/** Keeps names of sources apart from other texts. */
const SEED = 0xa0d1;
/** Sources that one episode may audit; later ones are not audited. Bounds the episode's record. */
const AUDITS_PER_EPISODE = 16;

/** Claims that do not count and wait for an audit, per episode; further ones are not kept. */
const CLAIMS_PER_EPISODE = 8;

/**
 * Holds claims against better evidence: of two rewards of one episode, by different sources and of different tiers, the weaker is
 * audited by the stronger, in either order of arrival. A source is audited once per episode (otherwise repeating a claim would earn
 * trust), and never by itself. A judge counts by the trust in it.
 *
 * To be called before the episode takes the outcome in.
 */
export function* auditClaims(draft: Draft, episode: EpisodeRecord, { source, tier, reward }: OutcomeEvent): Loading {
  if (reward === null) return;
  const said: Claim = { source, tier, reward };
  const credibility = episode.reward;
  for (const claim of credibility ? [credibility, ...episode.claims] : episode.claims) {
    if (isBetter(said, claim)) yield* audit(draft, episode, claim, said);
  }
  if (credibility && isBetter(credibility, said)) yield* audit(draft, episode, said, credibility);
}

function* audit(draft: Draft, episode: EpisodeRecord, claim: Claim, judge: Claim): Loading {
  if (judge.source === claim.source || !mayBeAudited(episode, claim)) return;
  yield* draft.load([sourceRef(claim.source), sourceRef(judge.source)]);
  const weight = AUDITED_TIERS.includes(judge.tier) ? trustOf(sourceOf(draft, judge.source).trust) : 1;
  if (weight === 0) return;
  const record = sourceOf(draft, claim.source);
  record.trust = audited(record.trust, 1 - Math.abs(claim.reward - judge.reward), weight);
  record.audits += 1;
  keepSource(draft, claim.source, record);
  episode.audits = [...episode.audits, textHash(claim.source, SEED)];
  episode.claims = episode.claims.filter(({ source }) => source !== claim.source);
}

/** Keeps a claim that does not count (any more) for a later audit: the last of each source, except the one that counts. */
export function setAside(
  episode: EpisodeRecord,
  [claim, counted]: readonly [Claim | undefined, Claim | undefined],
): void {
  if (!claim || claim.source === counted?.source || !mayBeAudited(episode, claim)) return;
  const others = episode.claims.filter(({ source }) => source !== claim.source);
  if (others.length >= CLAIMS_PER_EPISODE) return;
  episode.claims = [...others, { source: claim.source, tier: claim.tier, reward: claim.reward }];
}

function mayBeAudited({ audits }: EpisodeRecord, { source, tier }: Claim): boolean {
  return AUDITED_TIERS.includes(tier) && audits.length < AUDITS_PER_EPISODE && !audits.includes(textHash(source, SEED));
}

function isBetter(a: Claim, b: Claim): boolean {
  return OUTCOME_TIERS.indexOf(a.tier) < OUTCOME_TIERS.indexOf(b.tier);
}
