import { carriesCredit } from "../credit/shares.js";
import type { Contribution } from "../learners/learner.js";
import { countTaught } from "./context-counts.js";
import type { Draft, Loading } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import { evidenceOf } from "./evidence.js";
import { lessonOf } from "./lesson.js";
import { fitAgain, revisitRuns } from "./revisit.js";

const NO_VECTOR = new Int8Array(0);

/** Adds the episode's contribution, if it has an outcome with a result and none is recorded. */
export function* settle(draft: Draft, id: string, episode: EpisodeRecord): Loading {
  const { lesson: taught, votes } = evidenceOf(episode);
  // The used memories of a run teach nothing while its end is unknown.
  if (episode.contribution || (!taught && votes.length === 0)) return;
  const first = !episode.taught;
  const lesson = lessonOf(draft, episode, first);
  if (!lesson.exposures.some(({ shown }) => shown.some(({ weight }) => weight > 0))) return;
  keepContribution(draft, episode, draft.learner.learn(lesson));
  if (first) {
    episode.taught = true;
    draft.stats.taught += 1;
    countTaught(draft.stats, episode.exposures);
    yield* revisitRuns(draft, id);
  }
  fitAgain(draft, episode);
}

/** Takes back what the episode has added. */
export function takeBack(draft: Draft, episode: EpisodeRecord): void {
  const lesson = lessonOf(draft, episode);
  const { exposures } = episode.contribution as Contribution;
  const whole = exposures.map((given, e) => ({
    ...given,
    direction: given.direction ?? lesson.exposures[e]?.direction,
  }));
  draft.learner.unlearn(lesson, { exposures: whole });
  episode.contribution = undefined;
}

/** Keeps each direction once, in place of the request's vector, if the learner needs no more of the request. */
function keepContribution({ learner }: Draft, episode: EpisodeRecord, contribution: Contribution): void {
  episode.contribution = contribution;
  if (!learner.forgetsRequests) return;
  const given = contribution.exposures.values();
  episode.exposures = episode.exposures.map((exposure) => {
    const direction = carriesCredit(exposure) ? given.next().value?.direction : undefined;
    return direction ? { ...exposure, vector: NO_VECTOR, direction } : exposure;
  });
  episode.contribution = { exposures: contribution.exposures.map((part) => ({ ...part, direction: undefined })) };
}
