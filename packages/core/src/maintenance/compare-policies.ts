import { DEFAULT_NAME, LEARNER, NAME } from "../engine/check.js";
import { partsOf } from "../engine/parts.js";
import type { Engine } from "../engine/types.js";
import { checkFields } from "../errors/field-rules.js";
import type { Learner } from "../learners/learner.js";
import { decodeEpisode } from "../ledger/episode-record.js";
import { decodeEvent } from "../ledger/event-codec.js";
import type { HoldoutDraw, RecordedExposure } from "../ledger/events.js";
import { episodeRef } from "../ledger/state-keys.js";
import { effectiveSampleSize, weighedDifference, weighedMean } from "../scoring/propensity.js";
import type { SequencedEntry } from "../store/store.js";
import { type Fold, LedgerReplay } from "./ledger-replay.js";
import { overlap, rankRecorded, sameSet } from "./policy-ranking.js";
import { PROGRESS, type Progress } from "./progress.js";
import type { PolicyEstimate, PolicyReport } from "./reports.js";

/** Least effective sample for an estimate. */
const POLICY_MINIMUM = 100;

/** How a learner's choices compare with an episode's, over all its exposures. */
interface EpisodeComparison {
  draw: HoldoutDraw | undefined;
  /** True when the two orders that were drawn from differed. */
  differs: boolean;
  /** The learner would have shown the same memories at every exposure. */
  asShown: boolean;
  /** The learner would have shown the host's order, at every exposure. */
  asHost: boolean;
}

/**
 * Folds the ledger with another learner, or the same with other parameters, ranks each exposure before learning from it, and
 * compares: how often its choice agrees with the list shown, and the success of its choices, estimated from chance draws.
 * Reads only.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and the store's codes
 */
export async function comparePolicies(
  engine: Engine,
  options: {
    readonly learner: Learner;
    readonly namespace?: string | undefined;
    readonly progress?: Progress | undefined;
  },
): Promise<PolicyReport> {
  const { store } = partsOf(engine);
  checkFields("comparePolicies", options, { learner: LEARNER, namespace: NAME, progress: PROGRESS }, ["learner"]);
  const { learner, namespace = DEFAULT_NAME, progress } = options;
  let comparison: PolicyComparison | undefined;
  const comparing = (fold: Fold): PolicyComparison => {
    // A fold that begins again is another object.
    if (comparison?.fold !== fold) comparison = new PolicyComparison(learner, fold);
    return comparison;
  };
  const replay = new LedgerReplay({ store, namespace, learner, progress });
  const fold = await replay.advance((entry, current) => comparing(current).see(entry));
  const { checkpoint } = replay;
  return { namespace, learner: learner.id, checkpoint, entries: fold.entries, ...comparing(fold).report() };
}

class PolicyComparison {
  readonly fold: Fold;
  readonly #learner: Learner;
  readonly #episodes = new Map<string, EpisodeComparison>();
  #exposures = 0;
  #same = 0;
  #overlap = 0;

  /** @param fold holds the entries before the one that is ranked */
  constructor(learner: Learner, fold: Fold) {
    this.#learner = learner;
    this.fold = fold;
  }

  /** Ranks what an entry exposes. */
  see(entry: SequencedEntry): void {
    if (entry.type !== "exposure") return;
    const event = decodeEvent(entry.type, entry.payload);
    if (event.type !== "exposure") return;
    for (const exposure of event.exposures) {
      if (exposure.shown.length > 0) this.#compare(event.episode, exposure);
    }
  }

  report(): Pick<PolicyReport, "episodes" | "exposures" | "agreement" | "estimate"> {
    return {
      episodes: this.#episodes.size,
      exposures: this.#exposures,
      ...(this.#exposures === 0
        ? {}
        : { agreement: { sameSet: this.#same / this.#exposures, overlap: this.#overlap / this.#exposures } }),
      estimate: this.#estimate(),
    };
  }

  #compare(id: string, exposure: RecordedExposure): void {
    const { shown, host, learner } = rankRecorded(this.#learner, this.fold, exposure);
    const same = sameSet(learner, shown);
    this.#exposures += 1;
    this.#same += same ? 1 : 0;
    this.#overlap += overlap(learner, shown) / shown.size;
    const { holdout } = exposure;
    const episode = this.#episodes.get(id) ?? { draw: holdout, differs: false, asShown: true, asHost: true };
    // Exposures of two collections may have been drawn with two shares: no single chance is behind such an episode.
    if (episode.draw?.share !== holdout?.share) episode.draw = undefined;
    episode.differs ||= holdout?.differs ?? false;
    episode.asShown &&= same;
    episode.asHost &&= sameSet(learner, host);
    this.#episodes.set(id, episode);
  }

  /**
   * Success of the learner on the episodes whose set was drawn by chance, each weighed by 1 / (chance of what was shown), beside
   * that of the learned order on the same kinds of episode.
   *
   * An episode was shown the host's order with chance p and the learned order with 1 − p; with chance 1 where the two agree. So
   * the learner's success is known where it agrees with either order, and only there: `coverage` says how often that is.
   * Episodes that were not drawn are left out: where the learner agrees with them its success is theirs by definition, elsewhere
   * it is unknown.
   */
  #estimate(): PolicyReport["estimate"] {
    const observations: { reward: number; a: number; b: number }[] = [];
    let drawn = 0;
    let known = 0;
    for (const [id, { draw, differs, asShown, asHost }] of this.#episodes) {
      const bytes = this.fold.state(episodeRef(id));
      const reward = bytes && decodeEpisode(bytes).reward?.reward;
      if (!draw || draw.share === 1 || reward === undefined) continue;
      const weight = !differs ? 1 : 1 / (draw.held ? draw.share : 1 - draw.share);
      const servedLearned = !draw.held || !differs;
      const covered = asShown || asHost;
      if (!draw.held) {
        drawn += 1;
        if (covered) known += 1;
      }
      observations.push({ reward, a: asShown ? weight : 0, b: servedLearned && covered ? weight : 0 });
    }
    if (observations.length === 0) {
      return {
        refused:
          "No episode with a reward was drawn by chance. Rank with a holdout between 0 and 1 for a while: the ledger has no outcomes of choices that were not made.",
        effectiveSampleSize: 0,
      };
    }
    const size = effectiveSampleSize(observations.map(({ a }) => a));
    if (size < POLICY_MINIMUM || observations.every(({ b }) => b === 0)) {
      return {
        refused: `The learner's choices agree with chance draws worth ${Math.floor(size)} episodes; ${POLICY_MINIMUM} are needed. Collect more with a holdout, or serve the learner and measure its lift.`,
        effectiveSampleSize: size,
      };
    }
    const estimate: PolicyEstimate = {
      success: weighedMean(observations.map(({ reward, a }) => ({ reward, weight: a }))),
      served: weighedMean(observations.map(({ reward, b }) => ({ reward, weight: b }))),
      ...weighedDifference(observations),
      effectiveSampleSize: size,
      coverage: drawn === 0 ? 0 : known / drawn,
    };
    return estimate;
  }
}
