import type { Contribution } from "../learners/learner.js";
import { countTaught } from "./context-counts.js";
import type { Draft, Loading } from "./draft.js";
import type { EpisodeRecord } from "./episode-record.js";
import { evidenceOf } from "./evidence.js";
import { lessonOf } from "./lesson.js";
import { fitAgain, revisitRuns } from "./revisit.js";

/** Adds the episode's contribution, if it has an outcome that says something and none is recorded. */
export function* settle<Shared, Memory>(draft: Draft<Shared, Memory>, id: string, episode: EpisodeRecord): Loading {
  const { lesson: taught, votes } = evidenceOf(episode);
  // The used memories of a run teach nothing while its end is unknown.
  if (episode.contribution || (!taught && votes.length === 0)) return;
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
