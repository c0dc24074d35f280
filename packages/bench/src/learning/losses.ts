import { DATASET_NAMES, gainText, plain, signed } from "@qavr/lab";
import type { Comparison, Comparisons } from "./comparison.js";
import { DEFAULT_ROW, ROWS, variantOf } from "./rows.js";
import { SCENARIOS } from "./scenarios.js";
import { type Target, targetResults } from "./targets.js";

/** A mean loss of less than this is not worth a line. */
const WORTH_SAYING = 0.005;
/** Less than this vanishes in the digits that are printed. */
const VISIBLE = 0.001;

/** Losses of the default learner: sentences for the top of the page, from the results alone. */
export function losses(comparisons: Comparisons): readonly string[] {
  return [
    ...missed(comparisons),
    ...behind(comparisons),
    ...harmed(comparisons),
    ...unseen(comparisons),
    ...deceived(comparisons),
  ];
}

function missed(comparisons: Comparisons): readonly string[] {
  const results = targetResults(comparisons);
  const lines = results.flatMap(({ target, value, verdict }) =>
    verdict === "missed" && value !== undefined ? [`${target.what}, ${amount(target, value, 4)} (${bar(target)})`] : [],
  );
  const unmeasured = results.filter(({ verdict }) => verdict === "not measured").length;
  if (unmeasured > 0) lines.push(`${unmeasured} could not be measured`);
  return listed(`Missed of ${results.length} [targets](../../packages/bench/src/learning/targets.ts)`, lines);
}

/** `≥ +0.165` */
function bar(target: Target): string {
  return `${target.atMost ? "≤" : "≥"} ${amount(target, target.must, 3)}`;
}

function amount({ unit }: Target, value: number, digits: number): string {
  if (unit === "times") return `${plain(value, 1)} ×`;
  if (unit === "share") return `${plain(100 * value, 0)} %`;
  if (unit === "runs") return value.toLocaleString("en");
  return signed(value, digits);
}

/** Rows of others that know no more than the default learner and gain more. */
function behind(comparisons: Comparisons): readonly string[] {
  const others = new Set(
    ROWS.filter(({ name, knowsMore }) => !knowsMore && variantOf(name) !== DEFAULT_ROW).map(({ name }) => name),
  );
  return (["success", "ndcg"] as const).flatMap((measure) => {
    const sets = DATASET_NAMES.flatMap((set) => {
      const own = comparisons.find(DEFAULT_ROW, set, "main")?.gain(measure);
      if (!own) return [];
      const ahead = comparisons.all.flatMap((one) => {
        const gain = one.set === set && one.scenario === "main" && others.has(one.row) ? one.gain(measure) : undefined;
        return gain && gain.mean > own.mean + VISIBLE ? [{ row: one.row, gain }] : [];
      });
      ahead.sort((a, b) => b.gain.mean - a.gain.mean);
      const [best, ...more] = ahead;
      if (!best) return [];
      const rest = more.length > 0 ? ` and ${more.length} more` : "";
      return [`${set} ${signed(own.mean)}, \`${best.row}\` ${signed(best.gain.mean)}${rest}`];
    });
    return listed(`Behind other learners in ${measure === "success" ? "success" : "nDCG@5"}`, sets);
  });
}

/** Honest worlds in which it was worse than similarity at some time. */
function harmed(comparisons: Comparisons): readonly string[] {
  const worlds = own(comparisons)
    .filter(({ scenario }) => SCENARIOS[scenario].honest)
    .flatMap((one) => {
      const { runs, gain } = one.worst();
      return gain < -WORTH_SAYING ? [`${worldOf(one)} ${signed(gain)} after ${runs.toLocaleString("en")} runs`] : [];
    });
  return listed("Worse than similarity at some checkpoint, success", worlds);
}

function unseen(comparisons: Comparisons): readonly string[] {
  const gains = own(comparisons)
    .filter(({ scenario }) => scenario === "main")
    .flatMap((one) => {
      const gain = one.gain("unseen");
      return gain && gain.mean < -WORTH_SAYING ? [`${one.set} ${gainText(gain)}`] : [];
    });
  return listed("Kinds of request that never occurred before, nDCG@5", gains);
}

/** Worlds whose outcomes lie. */
function deceived(comparisons: Comparisons): readonly string[] {
  const worlds = own(comparisons)
    .filter(({ scenario }) => !SCENARIOS[scenario].honest)
    .flatMap((one) => {
      const gain = one.gain("success");
      return gain && gain.mean < -WORTH_SAYING ? [`${SCENARIOS[one.scenario].about} ${gainText(gain)}`] : [];
    });
  return listed("Deceived by lies, success", worlds);
}

/** One sentence, or none without places to name. */
function listed(what: string, places: readonly string[]): readonly string[] {
  return places.length > 0 ? [`${what}: ${places.join("; ")}.`] : [];
}

function own(comparisons: Comparisons): readonly Comparison[] {
  return comparisons.all.filter((one) => one.row === DEFAULT_ROW);
}

function worldOf({ set, scenario }: Comparison): string {
  return scenario === "main" ? set : `${set}, \`${scenario}\``;
}
