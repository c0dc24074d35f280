import { gainText, linePlot, markdownTable, mean, pairedInterval, plain, rounded, whole } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import type { HostedListingResult } from "./hosted-listing.js";
import type { ListingResult } from "./listing.js";
import type { MatchingResult, TwinResult } from "./matching.js";
import type { SpeedResult } from "./speed.js";
import type { TrialResult } from "./trials.js";

export interface ProcedureResults {
  readonly runs: number;
  readonly matching: readonly MatchingResult[];
  readonly twins: readonly TwinResult[];
  readonly speed: SpeedResult;
  readonly trials: readonly TrialResult[];
  readonly listing: readonly ListingResult[];
  readonly hostedListing: readonly HostedListingResult[];
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function matchingTable({ matching, twins }: ProcedureResults): string {
  const row = (what: string, own: readonly { readonly before: number; readonly after: number }[]): string[] => {
    const before = own.map((one) => one.before);
    const after = own.map((one) => one.after);
    return [what, plain(mean(before)), plain(mean(after)), gainText(pairedInterval(after, before))];
  };
  return markdownTable(
    ["", "before", "after the runs", "gain"],
    [
      ...(["words", "words + vectors"] as const).map((search) =>
        row(
          `hit@3, ${search}`,
          matching.filter((one) => one.search === search),
        ),
      ),
      row("first place right, half of the needs misled", twins),
    ],
  );
}

function speedText({ query, cold, match, edit }: SpeedResult): string {
  return `the first index ${rounded(cold)} ms, a search ${rounded(match)}, after a file was written ${rounded(edit)} (a query of a bare FTS5 table: ${rounded(query)})`;
}

function trialTable(trials: readonly TrialResult[]): string {
  return markdownTable(
    ["success in the file, %", "of the revision", "adopted, %", "runs, median", "runs, 90 %"],
    trials.map(({ inFile, revision, adopted, runs }) => [
      whole(100 * inFile),
      whole(100 * revision),
      (100 * adopted).toFixed(1),
      ...[whole(runs.median), whole(runs.ninth)],
    ]),
  );
}

const shareAt = (listing: readonly ListingResult[], place: number): number =>
  mean(listing.map(({ learned }) => learned[place]?.share ?? 0));

/** Share of needed skills that are listed, by what the order was learned from. */
function listingText(listing: readonly ListingResult[]): string {
  const points = listing[0]?.learned ?? [];
  const learned = points
    .map(({ runs }, place) => `${percent(shareAt(listing, place))} after ${whole(runs)} runs`)
    .filter((_, place) => place % 8 === 0 || place === points.length - 1);
  return `alphabetically ${percent(mean(listing.map(({ alphabetical }) => alphabetical)))}, learned ${learned.join(", ")}`;
}

function hostedTable(hosted: readonly HostedListingResult[]): string {
  const rows = [...Map.groupBy(hosted, ({ characters }) => characters)].map(([characters, own]) => [
    whole(characters),
    percent(mean(own.map(({ alphabetical }) => alphabetical))),
    percent(mean(own.map(({ similar }) => similar))),
    percent(mean(own.map(({ learned: [, second] }) => second))),
  ]);
  return markdownTable(["characters", "alphabetical", "by resemblance", "with what was learned"], rows);
}

/** Verdicts over runs, for the worlds of the plot. */
export function trialPlot(trials: readonly TrialResult[]): string {
  const named = [
    { of: [0.5, 0.5], name: "no better: adopted" },
    { of: [0.8, 0.3], name: "worse: taken back" },
    { of: [0.3, 0.8], name: "better: adopted" },
  ];
  return linePlot({
    title: "Trials of a revision",
    subtitle: "share decided; success 50/50 %, 80/30 %, 30/80 % of file and revision",
    xLabel: "runs of both versions",
    yLabel: "share of trials",
    series: named.flatMap(({ of, name }) => {
      const world = trials.find(({ inFile, revision }) => inFile === of[0] && revision === of[1]);
      return world ? [{ name, points: world.decided.map(({ runs, share }) => ({ x: runs, y: share })) }] : [];
    }),
  });
}

export function procedureSummary(results: ProcedureResults): string {
  return [
    matchingTable(results),
    speedText(results.speed),
    trialTable(results.trials),
    listingText(results.listing),
    hostedTable(results.hostedListing),
  ].join("\n\n");
}

export function reportPage(report: Report<ProcedureResults>): string {
  const { runs, matching, speed, trials, listing, hostedListing } = report;
  const falsely = Math.max(
    ...trials.filter(({ inFile, revision }) => inFile === revision).map(({ adopted }) => adopted),
  );
  const isHeld = falsely <= 0.05;
  return `# Procedures and skills

${isHeld ? "Every target is met in this run" : "**Missed in this run: false adoptions**"}: a revision that is no better is adopted in ${percent(falsely)} of ${trials[0]?.seeds} trials at most (target: ≤ 5 %).

## Matching

150 procedures of clinc150, each with its name and four requests; ${whole(runs)} other requests teach. The agent loads the right one of the three found, and
succeeds, or the first, and fails: a vote on the procedure loaded. In the last line half of the needs have a second procedure that sounds right and
fails, and the agent follows the first.

${matchingTable(report)}

## Speed

${whole(speed.procedures)} procedures with 20 requests each, medians of 50 times: ${speedText(speed)}. Every search looks at the stamps of all files
first.

## Trials of a revision

Each run gets one of two versions by a coin. Trials that do not adopt the revision take it back ([how](../explanation/procedures.md#trials)).

![Share of trials decided, by runs](procedures.svg)

${trialTable(trials)}

## A listing with an end

165 skills, of which 40 are ever needed. A host lists names and descriptions up to 15,000 characters; a run succeeds if its skill is listed. With
\`listing()\`, which orders before the request is known, of the needed skills are listed: ${listingText(listing)}.

In an agent of Mastra, with a listing for each request (\`rankedWorkspace\`): share of the second half of ${whole(hostedListing[0]?.runs ?? 0)} runs whose skill was listed; 4 points
may be chance.

${hostedTable(hostedListing)}

Means of ${matching.length / 2} seeds; embedding: LSA with 256 numbers, fitted on 3,000 other requests.

${originLine("procedures", report)}
`;
}
