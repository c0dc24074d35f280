/** Outcomes of one version. */
export interface Outcomes {
  readonly successes: number;
  readonly failures: number;
}

/** Chance that a revision that is no better is adopted, however long it is looked at. */
const FALSE_ADOPTION = 0.05;
/** Chance that a revision that is no worse is taken back. That loses an improvement and harms no run, so weak evidence is enough. */
const FALSE_ROLLBACK = 0.4;
/** Outcomes of both versions together after which an undecided trial ends with the version in the file. */
const LONGEST = 400;
/** Bets of the mixture, as shares of the largest legal one. */
const BETS = Array.from({ length: 19 }, (_, i) => (i + 1) / 20);

export type TrialVerdict = "adopt" | "roll back" | "continue";

/**
 * Decides a trial in which each episode got one of two versions by a fair coin. It may be looked at after every outcome.
 *
 * An outcome x in {0, 1} of the revision counts z = x − m, one of the version in the file z = m − x. m is fixed before
 * the trial. By the coin, the mean of z is half the difference of the success rates: at most 0 if the revision is no better. So for every
 * bet λ in [0, 1 / max(m, 1 − m)) the capital
 *
 *     K(λ) = Π (1 + λ · z) = (1 + λ(1−m))^Sr · (1 − λm)^Fr · (1 − λ(1−m))^Sf · (1 + λm)^Ff
 *
 * is a supermartingale that begins at 1, and so is its mean over bets fixed beforehand. By Ville's inequality it ever reaches 1/α with
 * probability α at most. S and F are successes and failures, r those of the revision, f those of the file: the order does not matter.
 * Being worse is tested by the same with −λ. Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting,
 * JRSS B 86 (2024); the coin as the source of the mean is Horvitz and Thompson's weighting.
 *
 * @param centre m, in [0.05, 0.95]. The closer to both success rates, the sooner the verdict; every value keeps the promises.
 */
export function decide(revision: Outcomes, inFile: Outcomes, centre: number): TrialVerdict {
  if (capital(revision, inFile, centre) >= 1 / FALSE_ADOPTION) return "adopt";
  const isOver = revision.successes + revision.failures + inFile.successes + inFile.failures >= LONGEST;
  return isOver || capital(inFile, revision, centre) >= 1 / FALSE_ROLLBACK ? "roll back" : "continue";
}

/** Evidence that `a` is better than `b`: at most 1 in the mean if it is not. */
export function capital(a: Outcomes, b: Outcomes, centre: number): number {
  const largest = 1 / Math.max(centre, 1 - centre);
  const logs = BETS.map((share) => {
    const bet = share * largest;
    return (
      a.successes * Math.log1p(bet * (1 - centre)) +
      a.failures * Math.log1p(-bet * centre) +
      b.successes * Math.log1p(-bet * (1 - centre)) +
      b.failures * Math.log1p(bet * centre)
    );
  });
  return logs.reduce((sum, log) => sum + Math.exp(log), 0) / BETS.length;
}

/** The centre for a trial: the success rate of the version in the file, with one outcome of each kind added. */
export function centreOf({ successes, failures }: Outcomes): number {
  return Math.min(0.95, Math.max(0.05, (successes + 1) / (successes + failures + 2)));
}
