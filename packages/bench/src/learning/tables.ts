import { gainText, markdownTable, signed, valueText } from "@qavr/lab";
import type { Comparison, Comparisons } from "./comparison.js";
import { BASELINE_ROW } from "./rows.js";

/** All measures of one set in one scenario: similarity's own values, and every other row's difference from it. */
export function measureTable(
  comparisons: Comparisons,
  { set, scenario }: Pick<Comparison, "set" | "scenario">,
): string {
  const rows = comparisons.all.filter((one) => one.set === set && one.scenario === scenario);
  return markdownTable(
    [
      "row",
      "seeds",
      "success",
      "nDCG@k",
      "recall",
      "online",
      "misled",
      "unseen nDCG",
      "worst (at run)",
      "@100 / 300 / 1000",
    ],
    rows.map((one) => {
      const text = one.row === BASELINE_ROW ? valueText : gainText;
      const of = one.row === BASELINE_ROW ? one.value : one.gain;
      const { runs, gain } = one.worst();
      const early = one.curve("success").filter((point) => [100, 300, 1000].includes(point.runs));
      return [
        one.row,
        String(one.seeds),
        text(of("success")),
        text(of("ndcg")),
        text(of("recall")),
        text(of("online")),
        text(of("misleading")),
        text(of("unseen")),
        one.row === BASELINE_ROW ? "" : `${signed(gain)} (${runs})`,
        one.row === BASELINE_ROW ? "" : early.map((point) => signed(point.gain.mean)).join(" / "),
      ];
    }),
  );
}
