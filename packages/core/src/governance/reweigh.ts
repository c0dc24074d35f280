import type { Draft, Loading } from "../ledger/draft.js";
import type { Credibility, EpisodeRecord } from "../ledger/episode-record.js";
import { turnRing } from "../ledger/ring.js";
import { settle, takeBack } from "../ledger/settle.js";
import { sourceRef } from "../ledger/state-keys.js";
import { countEvidence } from "../ledger/tally.js";
import { chargeSources } from "./credibility.js";
import { sourceOf } from "./source-record.js";
import { trustOf } from "./trust.js";

/** How many of the last claims of audited sources are weighed again, and how many at each new one. */
const CLAIMS = { log: 1_000, count: 8 } as const;
/** A source's trust must have changed by so much, or gone: less is not worth the writing. */
const NOTABLE = 0.1;

/**
 * Remembers an audited source's claim, and weighs the next few old claims again by the present trust in their sources.
 */
export function* reweighClaims(draft: Draft, episode: string): Loading {
  const ids = yield* turnRing(draft, "claims", CLAIMS, episode);
  for (const id of ids) {
    const record = draft.episode(id);
    if (!record) continue;
    const claims = credibilitiesOf(record).filter(isAudited);
    yield* draft.load(claims.map(({ source }) => sourceRef(source)));
    if (!claims.some((claim) => isNotable(claim.trust, trustNow(draft, claim)))) continue;
    yield* draft.loadStates(record.exposures);
    countEvidence(draft, record, -1);
    if (record.contribution) takeBack(draft, record);
    trustAsNow(draft, record, claims);
    countEvidence(draft, record, 1);
    yield* settle(draft, id, record);
    draft.keepEpisode(id, record);
  }
}

/** Weighs claims by the present trust in their sources. A source is charged for the weight that its claim gains. */
function trustAsNow(draft: Draft, record: EpisodeRecord, claims: readonly Credibility[]): void {
  const { exposures } = record;
  const before = claims.map(({ capped }) => [...capped]);
  const gained = new Map(claims.map((claim) => [claim, trustNow(draft, claim) - claim.trust]));
  chargeSources(draft, record, exposures, exposures, (credibility) => gained.get(credibility) ?? 0);
  claims.forEach((claim, i) => {
    const known = before[i] as number[];
    // A claim whose source cannot pay for more keeps the weight that it has paid for.
    if (claim.trust > 0 && claim.capped.length > known.length) claim.capped = known;
    else claim.trust = trustNow(draft, claim);
  });
}

function credibilitiesOf({ reward, votes }: EpisodeRecord): Credibility[] {
  return [reward, ...votes].map((part) => part?.credibility).filter((credibility) => credibility !== undefined);
}

/** True for an audited source: its trust never reaches 1. */
function isAudited({ trust }: Credibility): boolean {
  return trust < 1;
}

function trustNow(draft: Draft, { source }: Credibility): number {
  return trustOf(sourceOf(draft, source).trust);
}

function isNotable(before: number, now: number): boolean {
  return Math.abs(now - before) >= NOTABLE || (now === 0) !== (before === 0);
}
