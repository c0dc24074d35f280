import {
  gainText,
  interval,
  machineText,
  markdownTable,
  mean,
  pairedInterval,
  plain,
  signed,
  valueText,
} from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
import type { SilenceResult } from "./worker.js";

/** An arm in a world: one number for each seed. */
export type SilenceRow = { readonly world: string; readonly arm: string } & {
  readonly [Key in keyof SilenceResult]: readonly number[];
};

export interface SilenceResults {
  readonly seeds: readonly number[];
  readonly rows: readonly SilenceRow[];
}

/** Each arm beside the first one of its world, which shows all. */
export function silenceTable({ rows }: SilenceResults): string {
  return markdownTable(
    ["world", "shown", "success, held out", "tokens", "success, online", "tokens, online"],
    rows.map((row) => {
      const all = rows.find(({ world }) => world === row.world) as SilenceRow;
      const cells = (success: "online" | "heldOut", tokens: "onlineTokens" | "heldOutTokens"): string[] =>
        row === all
          ? [valueText(interval(row[success])), plain(mean(row[tokens]), 1)]
          : [
              gainText(pairedInterval(row[success], all[success])),
              `${signed(100 * (mean(row[tokens]) / mean(all[tokens]) - 1), 0)} %`,
            ];
      return [
        row === all ? row.world : "",
        row.arm,
        ...cells("heldOut", "heldOutTokens"),
        ...cells("online", "onlineTokens"),
      ];
    }),
  );
}

export function silencePage(report: Report<SilenceResults>): string {
  const { command, date, seeds } = report;
  return `# Silence

Success and tokens where [\`minWorth: 0.4\`](../reference/engine.md#what-is-left-out) leaves out memories that are not expected to help, beside lists that
are one memory shorter. The first line of a world shows all: five memories, three in the first two worlds. Other lines are differences
from it, paired by seed, with 95 % t intervals.

${silenceTable(report)}

- **Where it costs**: where all memories are right, in sealtools and in the last world, since what it leaves out may be the right one.
- **Where a shorter list does as well**: on held-out requests of the sets with something to learn. It costs more in sealtools, and while it learns;
  \`minWorth\` keeps lists whole until it knows better.
- **Where it saves nothing**: until a memory of the list is known to help; so after hundreds of runs less than after thousands, and where
  learned effects are small, as on real outcomes. There tokens are candidates shown.
- The arms learn from what they show themselves. *Held out*: requests that the stream does not have, after its end.
- Worlds, sets and streams are those of [learning](learning.md#how) and [real outcomes](real.md#how). 0.4 was chosen on clinc150, hwu64 and sealtools with seeds
  101 to 104. Tokens are UTF-8 bytes of the texts over four.

\`${command}\`, seeds ${seeds[0]} to ${seeds.at(-1)}, ${date}; ${machineText(report.hardware, report.versions)}.
`;
}
