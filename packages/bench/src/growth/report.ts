import { linePlot, markdownTable, type PlotSeries, plain, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { type GrowthPoint, type GrowthResults, RUN } from "./measure.js";

const MB = 1e6;

export function growthTable({ points }: Pick<GrowthResults, "points">): string {
  const every = Math.max(1, Math.floor(points.length / 5));
  return markdownTable(
    ["outcomes", "resident MB", "reachable MB", "bytes per outcome", "outcomes/s"],
    points
      .filter((_, place) => (place + 1) % every === 0)
      .map(({ outcomes, rss, heap, disk, perSecond }) => [
        whole(outcomes),
        whole(rss / MB),
        whole(heap / MB),
        whole(disk / outcomes),
        whole(perSecond),
      ]),
  );
}

/** Bytes per outcome of each table and index, largest first. */
function partsText({ parts }: GrowthResults): string {
  const sorted = Object.entries(parts).toSorted(([, a], [, b]) => b - a);
  return sorted
    .filter(([, bytes]) => bytes >= 1)
    .map(([name, bytes]) => `\`${name}\` ${whole(bytes)}`)
    .join(", ");
}

export function besideTable({ beside }: Pick<GrowthResults, "beside">): string {
  return markdownTable(
    ["recorded", "bytes per outcome", "compacted"],
    beside.map(({ name, bytes, compacted }) => [name, whole(bytes), whole(compacted)]),
  );
}

/** The plots of a run, complete SVG documents by file name. */
export function growthPlots({ points, plan }: GrowthResults): Readonly<Record<string, string>> {
  const series = (name: string, of: (point: GrowthPoint) => number): PlotSeries => ({
    name,
    points: points.map((point) => ({ x: point.outcomes, y: Math.round(of(point)) })),
  });
  const plot = (title: string, yLabel: string, ...lines: readonly PlotSeries[]): string =>
    linePlot({
      title,
      subtitle: `one process, one SQLite ledger, ${whole(plan.memories)} memories`,
      xLabel: "outcomes recorded",
      yLabel,
      series: lines,
    });
  return {
    "growth-memory.svg": plot(
      "Memory of a process that records",
      "MB",
      series("reachable", ({ heap }) => heap / MB),
      series("resident", ({ rss }) => rss / MB),
    ),
    "growth-disk.svg": plot(
      "Size of its ledger",
      "bytes per outcome",
      series("ledger and log", ({ disk, outcomes }) => disk / outcomes),
    ),
  };
}

export function reportPage(report: Report<GrowthResults>): string {
  const { plan, points, open, firstRanking, writing, verifying } = report;
  const last = points.at(-1) as GrowthPoint;
  const half = points[Math.floor(points.length / 2) - 1] ?? last;
  return `# Growth

${whole(plan.outcomes)} outcomes of ${whole(plan.memories)} memories in one process and one SQLite ledger.

- Memory: ${whole(half.rss / MB)} MB resident at half time, ${whole(last.rss / MB)} at the end, of which ${whole(last.heap / MB)} are reachable. Ledger: ${whole(last.disk / last.outcomes)} bytes per outcome
  (${whole(half.disk / half.outcomes)} at half time).
- Opened again in ${plain(open, 0)} ms, ${plain(firstRanking, 0)} ms to the end of the first ranking.
- Recorded in ${plain(writing, 0)} s, verified in ${plain(verifying, 0)} s (${plain(writing / verifying, 1)} times as fast).

![Memory of a process that records](growth-memory.svg)

![Size of its ledger](growth-disk.svg)

Bytes per outcome by table and index: ${partsText(report)}.

## What makes it smaller

By ${whole(plan.beside)} outcomes of a hundred memories each, so that hardly any of it is states:

${besideTable(report)}

- \`recordedCandidates\` bounds the candidates of a run that are recorded; explanations and evaluation see no others.
- A compaction keeps states and idempotency keys. Here everything is older than the window of outcomes, and the file was vacuumed.
- An outcome keeps the request's vector twice.

A run: ${RUN.candidates} candidates, ${RUN.shown} shown, a request of ${RUN.dims} numbers, the outcome by one of ${RUN.sources} sources; ${RUN.together} at a time. Memory is collected before each measurement.

${originLine("growth", report)}
`;
}
