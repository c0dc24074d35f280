import type { EpisodeRecord } from "./episode-record.js";

/**
 * Rewards of one arm. Whole numbers in units of {@link REWARD_UNITS}, so that taking a reward back restores the
 * exact sum.
 */
export interface ArmCounts {
  /** Episodes with a reward. */
  episodes: number;
  /** Σ r */
  sum: number;
  /** Σ r², in squared units. */
  squares: number;
}

/** Rewards of the episodes that were drawn at the same share: `held`, and all others. */
export interface HoldoutCounts {
  readonly share: number;
  /** Place in the ledger of the first exposure that counts: those before it belong to counts that were given up. */
  readonly since: number;
  readonly learned: ArmCounts;
  readonly held: ArmCounts;
}

/** A reward of 1. Σ r² of 5·10⁸ episodes is still a whole number; rounding costs at most 0.00012. */
export const REWARD_UNITS = 4_096;
/** Shares that are kept apart; of more, the one that began first is given up. `oar` uses eighteen: 0.05, 0.1, … 0.9. */
const MAX_SHARES = 18;

const emptyArm = (): ArmCounts => ({ episodes: 0, sum: 0, squares: 0 });

/** Counts by the two draws. */
interface DrawCounts {
  holdout?: HoldoutCounts[];
  memoryOff?: HoldoutCounts[];
}

const DRAWS = ["holdout", "memoryOff"] as const;

/** Notes at which shares an episode was drawn. To be called once, when they are known. */
export function noteDraw(stats: DrawCounts, episode: EpisodeRecord): void {
  const first = episode.exposures[0];
  for (const name of DRAWS) {
    const draw = episode[name];
    if (!draw || !first) continue;
    const counts = stats[name] ?? [];
    stats[name] = counts;
    if (counts.some(({ share }) => share === draw.share)) continue;
    counts.push({ share: draw.share, since: first.seq, learned: emptyArm(), held: emptyArm() });
    if (counts.length > MAX_SHARES) counts.shift();
  }
}

/**
 * Adds the reward that counts to the arms of its episode (`times` 1), or takes it back (−1). Every episode weighs the same: a
 * tier decides which reward counts, but weighing successes and failures by the tier that reported them would move the mean.
 */
export function countReward(stats: DrawCounts, episode: EpisodeRecord, times: 1 | -1): void {
  const { reward, exposures } = episode;
  const first = exposures[0];
  if (!reward || !first) return;
  for (const name of DRAWS) {
    const draw = episode[name];
    const counts = draw && stats[name]?.find(({ share, since }) => share === draw.share && since <= first.seq);
    if (!counts) continue;
    const arm = draw.held ? counts.held : counts.learned;
    const units = Math.round(reward.reward * REWARD_UNITS);
    arm.episodes += times;
    arm.sum += times * units;
    arm.squares += times * units * units;
  }
}
