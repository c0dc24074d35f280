import { median, seededRandom } from "@qavr/lab";
import { decideTrial, type TrialVerdict } from "@qavr/markdown";

/** Trials of a revision in one world. */
export interface TrialResult {
  /** Success rates. */
  readonly inFile: number;
  readonly revision: number;
  readonly seeds: number;
  readonly adopted: number;
  readonly rolledBack: number;
  /** Runs of both versions until the verdict, in the middle and for nine of ten trials. */
  readonly runs: { readonly median: number; readonly ninth: number };
  /** Share of trials that were decided as most were, after as many runs. */
  readonly decided: readonly { readonly runs: number; readonly share: number }[];
}

/** Worlds: a revision that is no better, one that is worse, one that is better. */
const WORLDS = [
  [0.2, 0.2],
  [0.5, 0.5],
  [0.8, 0.8],
  [0.8, 0.3],
  [0.5, 0.1],
  [0.3, 0.8],
  [0.5, 0.8],
] as const;

/** Runs at which the plot has points. */
const POINTS = [0, 2, 4, 6, 8, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200];

export function measureTrials(seeds: number): TrialResult[] {
  return WORLDS.map(([inFile, revision], world) => {
    const ends = Array.from({ length: seeds }, (_, seed) => trial(inFile, revision, 1_000 * world + seed));
    const share = (wanted: TrialVerdict, most = Number.POSITIVE_INFINITY): number =>
      ends.filter(({ verdict, runs }) => verdict === wanted && runs <= most).length / seeds;
    const runs = ends.map((end) => end.runs).sort((a, b) => a - b);
    const usual = revision > inFile ? "adopt" : revision < inFile ? "roll back" : "adopt";
    return {
      ...{ inFile, revision, seeds, adopted: share("adopt"), rolledBack: share("roll back") },
      runs: { median: median(runs), ninth: runs[Math.floor(0.9 * seeds)] as number },
      decided: POINTS.map((most) => ({ runs: most, share: share(usual, most) })),
    };
  });
}

function trial(
  inFile: number,
  revision: number,
  seed: number,
): { readonly verdict: TrialVerdict; readonly runs: number } {
  const random = seededRandom(seed);
  const arms = [inFile, revision].map((rate) => ({ rate, successes: 0, failures: 0 }));
  // Before the trial the version in the file had two outcomes of each kind that its rate makes likely.
  const centre = Math.min(0.95, Math.max(0.05, (4 * inFile + 1) / 6));
  for (let runs = 1; ; runs++) {
    const arm = arms[random() < 0.5 ? 0 : 1] as (typeof arms)[number];
    if (random() < arm.rate) arm.successes += 1;
    else arm.failures += 1;
    const [old, young] = arms as [(typeof arms)[number], (typeof arms)[number]];
    const verdict = decideTrial(young, old, centre);
    if (verdict !== "continue") return { verdict, runs };
  }
}
