import { gainText, interval, markdownTable, mean, pairedInterval, signed, valueText } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import type { SilenceResult } from "./worker.js";

/** An arm in a world: one number for each seed. */
export type SilenceRow = { readonly world: string; readonly arm: string } & {
  readonly [Key in keyof SilenceResult]: readonly number[];
};

export interface SilenceResults {
  readonly seeds: readonly number[];
  readonly rows: readonly SilenceRow[];
}

/** Arms beside the first one of their world, which shows all. */
export function silenceTable({ rows }: SilenceResults): string {
  const arms = [...new Set(rows.map(({ arm }) => arm))].slice(1);
  return markdownTable(
    ["world", "all shown", ...arms.flatMap((arm) => [arm, "tokens, %"])],
    [...Map.groupBy(rows, ({ world }) => world)].map(([world, own]) => {
      const [all] = own as [SilenceRow];
      return [
        world,
        valueText(interval(all.heldOut)),
        ...arms.flatMap((arm) => {
          const row = own.find((one) => one.arm === arm);
          if (!row) return ["", ""];
          return [
            gainText(pairedInterval(row.heldOut, all.heldOut)),
            signed(100 * (mean(row.heldOutTokens) / mean(all.heldOutTokens) - 1), 0),
          ];
        }),
      ];
    }),
  );
}

export function silencePage(report: Report<SilenceResults>): string {
  const { seeds } = report;
  return `# Silence

Held-out success and tokens where [\`minWorth: 0.3\`](../reference/engine.md#what-is-left-out) leaves out memories that are not expected to help, and of lists that are one
memory shorter, less those of lists that show all: five memories, three in the first two worlds.

- **It costs** a little success where all memories are right, and saves little there.
- **It saves nothing** until a memory of the list is known to help, and little where learned effects are small, as on real outcomes.
- **A shorter list does as well** on the sets with something to learn, and costs more in sealtools.

${silenceTable(report)}

Tokens are UTF-8 bytes over four; in the first two worlds candidates. Worlds of [learning](learning.md#how) and
[real outcomes](real.md#how), seeds ${seeds[0]} to ${seeds.at(-1)}; each arm learns from what it shows. 0.3 was chosen on clinc150, hwu64 and sealtools with seeds 101
to 106.

${originLine("silence", report)}
`;
}
