import type { ArmName } from "./arms.js";
import type { Style } from "./style.js";

const COLUMNS = 60;
const ROWS = 15;
/** Columns that one point averages over at least, so that luck does not hide the trend. */
const SMOOTHED = 8;
/** Scale of the plot, as shares of right answers. */
const LOW = 0.35;
const HIGH = 0.7;
/** Answers that a point needs. */
const LEAST = 20;

/** Right answers of the arms, plotted in text. */
export interface Curve {
  /** Adds one request: whether each arm answered rightly. */
  add(right: readonly boolean[]): void;
  /** The plot so far. */
  draw(style: Style): string;
}

/** @param names of the arms, in the order of `add`; the first and the last are drawn */
export function createCurve(names: readonly ArmName[], runs: number): Curve {
  const drawn = [0, names.length - 1];
  const counts = drawn.map(() => new Array<number>(COLUMNS).fill(0));
  const totals = new Array<number>(COLUMNS).fill(0);
  let done = 0;

  /** Mean of the last columns up to this one; undefined while there are too few answers. */
  const meanAt = (arm: number, column: number): number | undefined => {
    let from = column + 1;
    let total = 0;
    let right = 0;
    while (from > 0 && (total < LEAST || from > column + 1 - SMOOTHED)) {
      from--;
      total += totals[from] as number;
      right += (counts[arm] as number[])[from] as number;
    }
    return total < LEAST ? undefined : right / total;
  };

  return {
    add(right) {
      const column = Math.min(COLUMNS - 1, Math.floor((done++ / runs) * COLUMNS));
      (totals[column] as number) += 1;
      for (const [place, arm] of drawn.entries())
        if (right[arm]) (counts[place] as number[])[column] = ((counts[place] as number[])[column] as number) + 1;
    },
    draw(style) {
      const last = Math.min(COLUMNS - 1, Math.floor(((done - 1) / runs) * COLUMNS));
      const rowOf = (share: number): number =>
        Math.min(ROWS - 1, Math.max(0, Math.round(((HIGH - share) / (HIGH - LOW)) * (ROWS - 1))));
      const cells = Array.from({ length: ROWS }, () => new Array<string>(COLUMNS).fill(" "));
      const ends = drawn.map((arm, place) => {
        let end: number | undefined;
        for (let column = 0; column <= last; column++) {
          const mean = meanAt(place, column);
          if (mean === undefined) continue;
          end = mean;
          (cells[rowOf(mean)] as string[])[column] = place === 0 ? style.dim("·") : style.strong("●");
        }
        return { name: names[arm] as ArmName, end };
      });
      const words = wordsBeside(ends, rowOf, style);
      const lines = cells.map((row, i) => {
        const share = HIGH - (i / (ROWS - 1)) * (HIGH - LOW);
        const scale = i % 2 === 0 ? `${String(Math.round(share * 100)).padStart(4)} %` : "      ";
        return `${scale} ${style.dim("│")}${row.join("")}  ${words[i] ?? ""}`.trimEnd();
      });
      const count = `${done.toLocaleString("en")} of ${runs.toLocaleString("en")} questions`;
      return [
        style.bold("Right answers"),
        ...lines,
        `       ${style.dim(`└${"─".repeat(COLUMNS)}`)}`,
        `        ${count}`,
      ].join("\n");
    },
  };
}

/** The name and latest value of each arm, in the row of its last point; the lower one gives way. */
function wordsBeside(
  ends: readonly { readonly name: ArmName; readonly end: number | undefined }[],
  rowOf: (share: number) => number,
  style: Style,
): readonly (string | undefined)[] {
  const words: (string | undefined)[] = [];
  for (const { name, end } of ends.toReversed()) {
    if (end === undefined) continue;
    const text = `${name} ${Math.round(end * 100)} %`;
    const free = [0, 1, -1].map((step) => rowOf(end) + step).find((row) => row >= 0 && words[row] === undefined);
    if (free !== undefined) words[free] = name === "qavr" ? style.strong(text) : text;
  }
  return words;
}
