import type { Comparison, Comparisons } from "../learning/comparison.js";
import { plain, signed } from "../report/markdown-table.js";
import type { Cost, Timed } from "./costs.js";
import { REFERENCE, REFERENCE_DIMS } from "./subjects.js";

/**
 * Where the default costs more than another learner or gains less. Bytes and gains count by their means, whatever the interval; a
 * time counts when its whole interval is below the default's.
 */
export function lossLines(costs: readonly Cost[], gains: Comparisons): readonly string[] {
  const alike = costs.filter(({ dims }) => dims === REFERENCE_DIMS);
  const own = alike.find(({ learner }) => learner === REFERENCE) as Cost;
  const others = alike.filter((cost) => cost !== own);
  return [
    ...others.flatMap((other) => cheaper(other, own)),
    ...others.flatMap(({ learner }) => better(learner, gains)),
  ];
}

function cheaper(other: Cost, own: Cost): readonly string[] {
  const { inMemory, onDisk, onServer } = other;
  const below = ({ ratio: { mean, margin } }: Timed): boolean => mean + margin < 1;
  const share = (value: number, name: string): string => `${plain(value, 2)} of the ${name}`;
  const less = [
    ...(other.bytes < own.bytes ? [share(other.bytes / own.bytes, "bytes")] : []),
    ...(below(inMemory) ? [share(inMemory.ratio.mean, "CPU")] : []),
    ...(below(onDisk) ? [share(onDisk.ratio.mean, "time on SQLite")] : []),
    ...(below(onServer) ? [share(onServer.ratio.mean, "time on PostgreSQL")] : []),
  ];
  return less.length > 0 ? [`\`${other.learner}\` is cheaper: ${less.join(", ")}.`] : [];
}

function better(learner: string, gains: Comparisons): readonly string[] {
  return gains.all
    .filter((one) => one.row === learner)
    .flatMap((one) => {
      const own = gains.find(REFERENCE, one.set, one.scenario);
      if (!own) return [];
      const ahead = (["success", "ndcg"] as const).flatMap((measure) => lead(one, own, measure));
      return ahead.length > 0 ? [`\`${learner}\` gains more on ${one.set}: ${ahead.join(", ")}.`] : [];
    });
}

function lead(one: Comparison, own: Comparison, measure: "success" | "ndcg"): readonly string[] {
  const [theirs, ours] = [one.gain(measure), own.gain(measure)];
  if (!theirs || !ours || theirs.mean <= ours.mean) return [];
  return [`${signed(theirs.mean)} against ${signed(ours.mean)} ${measure === "ndcg" ? "nDCG@5" : measure}`];
}
