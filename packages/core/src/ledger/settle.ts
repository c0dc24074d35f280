import { trustOf } from "../credit/trust.js";
import type { Contribution } from "../learners/learner.js";
import { countTaught } from "./context-counts.js";
import type { Draft, Loading } from "./draft.js";
import type { EpisodeRecord, Standing } from "./episode-record.js";
import { evidenceOf } from "./evidence.js";
import { lessonOf } from "./lesson.js";
import { fitAgain, revisitRuns } from "./revisit.js";
import { turnRing } from "./ring.js";
import { chargeSources } from "./standing.js";
import { sourceRef } from "./state-keys.js";

/** Adds the episode's contribution, if it has an outcome that says something and none is recorded. */
export function* settle<Shared, Memory>(draft: Draft<Shared, Memory>, id: string, episode: EpisodeRecord): Loading {
  const { reward, votes } = evidenceOf(episode);
  // Which memories a run used says nothing while nobody knows how it ended.
  const speaks = reward !== undefined || (votes !== undefined && votes.helpful.length + votes.harmful.length > 0);
  if (episode.contribution || !speaks) return;
  const first = !episode.taught;
  const lesson = lessonOf(draft, episode, first);
  if (!lesson.exposures.some(({ shown }) => shown.some(({ weight }) => weight > 0))) return;
  episode.contribution = draft.learner.learn(lesson);
  if (first) {
    episode.taught = true;
    draft.stats.taught += 1;
    countTaught(draft.stats, episode.exposures);
    yield* revisitRuns(draft, id);
  }
  fitAgain(draft, episode);
}

/** Takes back what the episode has added. */
export function takeBack<Shared, Memory>(draft: Draft<Shared, Memory>, episode: EpisodeRecord): void {
  draft.learner.unlearn(lessonOf(draft, episode), episode.contribution as Contribution);
  episode.contribution = undefined;
}

/** How many of the last claims of audited sources are weighed again, and how many at each new one. */
const CLAIMS = { log: 1_000, count: 8 } as const;
/** A source's trust must have changed by so much, or gone: less is not worth the writing. */
const NOTABLE = 0.1;

/**
 * Remembers an audited source's claim, and weighs the next few old ones again by what their sources are trusted now: the past of a
 * source counts as its present does.
 */
export function* reweighClaims<Shared, Memory>(draft: Draft<Shared, Memory>, episode: string): Loading {
  const ids = yield* turnRing(draft, "claims", CLAIMS, episode);
  for (const id of ids) {
    const record = draft.episode(id);
    if (!record) continue;
    const claims = standingsOf(record).filter(isAudited);
    yield* draft.load(claims.map(({ source }) => sourceRef(source)));
    if (!claims.some((claim) => isNotable(claim.trust, trustNow(draft, claim)))) continue;
    yield* draft.loadStates(record.exposures);
    if (record.contribution) takeBack(draft, record);
    trustAsNow(draft, record, claims);
    yield* settle(draft, id, record);
    draft.keepEpisode(id, record);
  }
}

/** Believes claims as their sources are trusted now. A source pays for the weight that its word gains, as it did for what it had. */
function trustAsNow<Shared, Memory>(
  draft: Draft<Shared, Memory>,
  record: EpisodeRecord,
  claims: readonly Standing[],
): void {
  const { exposures } = record;
  const before = claims.map(({ capped }) => [...capped]);
  const gained = new Map(claims.map((claim) => [claim, trustNow(draft, claim) - claim.trust]));
  chargeSources(draft, record, exposures, exposures, (standing) => gained.get(standing) ?? 0);
  claims.forEach((claim, i) => {
    const known = before[i] as number[];
    // What was paid for stays: a word that cannot pay for more keeps the weight that it had.
    if (claim.trust > 0 && claim.capped.length > known.length) claim.capped = known;
    else claim.trust = trustNow(draft, claim);
  });
}

function standingsOf({ reward, votes }: EpisodeRecord): Standing[] {
  return [reward?.standing, votes?.standing].filter((standing) => standing !== undefined);
}

/** Whoever is audited is never trusted in full. */
function isAudited({ trust }: Standing): boolean {
  return trust < 1;
}

function trustNow<Shared, Memory>(draft: Draft<Shared, Memory>, { source }: Standing): number {
  return trustOf(draft.source(source).trust);
}

function isNotable(before: number, now: number): boolean {
  return Math.abs(now - before) >= NOTABLE || (now === 0) !== (before === 0);
}
