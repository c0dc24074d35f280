import type { Checkpoint } from "./run-seed.js";
import type { Style } from "./style.js";
import type { Measure, SummaryRow } from "./summary.js";

const COLUMNS: readonly { readonly measure: Measure; readonly title: string }[] = [
  { measure: "online", title: "right answers" },
  { measure: "success", title: "held-out" },
  { measure: "ndcg", title: "nDCG@5" },
  { measure: "misleading", title: "misleading" },
];
const NAME_WIDTH = 12;
const SINGLE_WIDTH = 15;
const SUMMARY_WIDTH = 18;

/** Legend of the columns, above the table. */
export const LEGEND = `right answers  share of the stream's requests answered rightly since the row above
held-out       true probability of a right answer on 400 requests that nobody learns from
nDCG@5         how high the helpful lessons stand in their top 5 (1 is perfect)
misleading     share of those requests with a misleading lesson in the top 5`;

export function tableHead(style: Style): string {
  return style.bold(
    `  runs  ${"ranked by".padEnd(NAME_WIDTH)}${COLUMNS.map(({ title }) => title.padStart(SINGLE_WIDTH)).join("")}`,
  );
}

/** One block of the table: a line per arm. */
export function tableRow({ runs, arms }: Checkpoint, style: Style): string {
  return arms
    .map((arm, place) => {
      const cells = COLUMNS.map(({ measure }) => (arm[measure]?.toFixed(3) ?? "").padStart(SINGLE_WIDTH)).join("");
      return arm.name === "qavr"
        ? style.strong(line(runs, place, arm.name, cells))
        : line(runs, place, arm.name, cells);
    })
    .join("\n");
}

export function summaryHead(style: Style): string {
  return style.bold(
    `  runs  ${"ranked by".padEnd(NAME_WIDTH)}${COLUMNS.map(({ title }) => title.padStart(SUMMARY_WIDTH)).join("")}`,
  );
}

/** One block over several seeds: similarity's means, and below them what each arm adds. */
export function summaryRow({ runs, arms }: SummaryRow, style: Style): string {
  return arms
    .map(({ name, values, gains }, place) => {
      const cells = COLUMNS.map(({ measure }) => {
        const { mean, margin } = gains ? gains[measure] : values[measure];
        const sign = gains && mean >= 0 ? "+" : "";
        return `${sign}${mean.toFixed(3)} ±${margin.toFixed(3)}`.padStart(SUMMARY_WIDTH);
      }).join("");
      return name === "qavr" ? style.strong(line(runs, place, name, cells)) : line(runs, place, name, cells);
    })
    .join("\n");
}

function line(runs: number, place: number, name: string, cells: string): string {
  return `${(place === 0 ? String(runs) : "").padStart(6)}  ${name.padEnd(NAME_WIDTH)}${cells}`;
}
