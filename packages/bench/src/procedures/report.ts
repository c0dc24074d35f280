import { linePlot, machineText, markdownTable, mean, plain, rounded, signed, whole } from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
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

function matchingTable(matching: readonly MatchingResult[]): string {
  const rows = (["words", "words + vectors"] as const).map((search) => {
    const own = matching.filter((one) => one.search === search);
    return [search, plain(mean(own.map(({ before }) => before))), plain(mean(own.map(({ after }) => after)))];
  });
  return markdownTable(["search", "hit@3 before", "hit@3 after the runs"], rows);
}

function twinTable(twins: readonly TwinResult[]): string {
  const row = [plain(mean(twins.map(({ before }) => before))), plain(mean(twins.map(({ after }) => after)))];
  return markdownTable(["first place right, before", "after the runs"], [row]);
}

/** Mean change of hit@3 by learning, both searches. */
function changeOf(matching: readonly MatchingResult[]): number {
  return mean(matching.map(({ before, after }) => after - before));
}

function speedTable({ query, cold, match, edit }: SpeedResult): string {
  const row = (what: string, time: number): string[] => [what, rounded(time), rounded(time / query)];
  return markdownTable(
    ["", "ms", "÷ one FTS5 query"],
    [
      row("one query of a bare FTS5 table", query),
      row("first index of the folder", cold),
      row("a search, nothing changed", match),
      row("the search after one file was written", edit),
    ],
  );
}

function trialTable(trials: readonly TrialResult[]): string {
  return markdownTable(
    ["success in the file", "of the revision", "adopted", "taken back", "runs, median", "runs, 90 %"],
    trials.map(({ inFile, revision, adopted, rolledBack, runs }) => [
      ...[percent(inFile), percent(revision), percent(adopted), percent(rolledBack)],
      ...[whole(runs.median), whole(runs.ninth)],
    ]),
  );
}

const shareAt = (listing: readonly ListingResult[], place: number): number =>
  mean(listing.map(({ learned }) => learned[place]?.share ?? 0));

function listingTable(listing: readonly ListingResult[]): string {
  const points = listing[0]?.learned ?? [];
  const rows = points
    .map(({ runs }, place) => [whole(runs), percent(shareAt(listing, place))])
    .filter((_, place) => place % 4 === 0);
  return markdownTable(
    ["runs", "needed skills listed"],
    [["alphabetical", percent(mean(listing.map(({ alphabetical }) => alphabetical)))], ...rows],
  );
}

function hostedTable(hosted: readonly HostedListingResult[]): string {
  const rows = [...Map.groupBy(hosted, ({ characters }) => characters)].map(([characters, own]) => [
    whole(characters),
    percent(mean(own.map(({ alphabetical }) => alphabetical))),
    percent(mean(own.map(({ similar }) => similar))),
    percent(mean(own.map(({ learned: [, second] }) => second))),
  ]);
  return markdownTable(["characters", "alphabetical", "by resemblance to the request", "with what was learned"], rows);
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
    matchingTable(results.matching),
    twinTable(results.twins),
    speedTable(results.speed),
    trialTable(results.trials),
    listingTable(results.listing),
    hostedTable(results.hostedListing),
  ].join("\n\n");
}

export function reportPage(report: Report<ProcedureResults>): string {
  const { command, date, hardware, versions, runs, matching, twins, speed, trials, listing, hostedListing } = report;
  const falsely = Math.max(
    ...trials.filter(({ inFile, revision }) => inFile === revision).map(({ adopted }) => adopted),
  );
  const isHeld = falsely <= 0.05;
  return `# Procedures and skills

${isHeld ? "Every target is met in this run" : "**Missed in this run: false adoptions**"}: a revision that is no better is adopted in ${percent(falsely)} of ${trials[0]?.seeds} trials at most (target: ≤ 5 %).

## Matching

150 procedures of clinc150, each with its name and four requests; the runs make other requests. ${whole(runs)} runs teach: the agent loads the right procedure
if it is among the three, and succeeds; else it loads the first, and fails. As in a host, a load counts as used, and the outcome is a vote on the procedure loaded.

${matchingTable(matching)}

Learning changes hit@3 by ${signed(changeOf(matching))} here. No procedure misleads, so there is little to gain: a procedure that succeeded rises for requests of other
needs, too, and its failures there take only a part of that back. If no procedure of yours misleads, give the engine the learner \`similarity()\`; counts and reviews stay.

Next, half of the needs have a misleading procedure: one procedure serves the need, the other sounds right and fails. The agent follows the first one listed.

${twinTable(twins)}

## Speed

${whole(speed.procedures)} procedures with 20 requests each. Every search looks at the stamps of all files first.

${speedTable(speed)}

## Trials of a revision

Each run gets one of two versions by a coin, and the verdict is asked for after every run. [How it decides](../explanation/procedures.md#trials).

![Share of trials decided, by runs](procedures.svg)

${trialTable(trials)}

## A listing with an end

165 skills, of which 40 are ever needed, some far more often than others. A host lists names and descriptions up to 15,000 characters; the rest cannot be
loaded. A run succeeds if its skill is listed. The listing is made before the request is known; its order (\`listing()\`) is learned from these runs alone.

${listingTable(listing)}

The same skills in an agent of Mastra, through \`rankedWorkspace\` and a scripted model: the host makes a listing for each request, and the model loads the skill that
the request needs if it is listed. Each run goes through all of Mastra, so there are ${whole(hostedListing[0]?.runs ?? 0)} for each seed and listing, not 1,000. Share of the second half of
the runs whose skill was listed:

${hostedTable(hostedListing)}

In the long listing resemblance alone leaves little to learn. Shares of 300 runs: a difference of 4 points may be chance.

## How

- Command: \`${command}\`. Raw results: [procedures.json](procedures.json).
- Matching: ${matching.length / 2} seeds; means. Embedding: LSA with 256 numbers, fitted on 3,000 other requests, offline. Listing: ${listing.length} seeds; means.
- Times are medians of 50, of the clock, beside whatever else the machine did.
- Machine: ${machineText(hardware, versions)}; ${date}.
`;
}
