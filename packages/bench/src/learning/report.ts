import {
  DATASET_NAMES,
  DATASETS,
  type DatasetName,
  gainText,
  type Interval,
  interval,
  markdownTable,
  mean,
  pairedInterval,
  plain,
  signed,
  VOTE_RATES,
  valueText,
} from "@qavr/lab";
import { PUBLISHED_SEEDS } from "../report/published-seeds.js";
import type { Comparison, Comparisons, Measure } from "./comparison.js";
import { losses } from "./losses.js";
import { OWN_MEMORIES } from "./own-memories.js";
import { STRESS_SET } from "./plan.js";
import { BASELINE_ROW, DEFAULT_ROW, PREDECESSOR_ROW, REFERENCE_ROW, ROWS, type Row, YARDSTICK_SEEDS } from "./rows.js";
import { SCENARIO_NAMES, SCENARIOS, type ScenarioKind, type ScenarioName } from "./scenarios.js";
import { LEARNABLE_SETS, meanGain, rivalsByGain } from "./targets.js";

/** Names of the files beside the page. */
export const FILES = {
  page: "learning.md",
  raw: "learning.json",
  curves: "learning-curves.svg",
  heatMap: "learning-heat-map.svg",
} as const;

/** The results as a Markdown page; what is lost comes first. No dates, no machine: the same results give the same bytes. */
export function reportPage(comparisons: Comparisons): string {
  const sections = [
    introduction(),
    `## Where it loses\n\n${bullets(losses(comparisons))}`,
    mainSection(comparisons),
    measureSection(comparisons),
    stressSection(comparisons),
    harmlessSection(comparisons),
    sourcesSection(comparisons),
    ownMemoriesSection(comparisons),
    method(),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function introduction(): string {
  return `# Learning

Every learner on the same streams: gains in [success](README.md#words) over similarity in the same worlds, paired by seed, with 95 % t intervals.
\`${DEFAULT_ROW}\` is the default, \`${PREDECESSOR_ROW}\` its predecessor, \`${REFERENCE_ROW}\` the published formula. Texts are real, outcomes are simulated.
All trials: [${FILES.raw}](${FILES.raw}).`;
}

function mainSection(comparisons: Comparisons): string {
  return `## Success

On 400 held-out requests after 3,000 runs. † tuned on, with other seeds. Of learners or settings of one idea, the best in the mean; the picture of the
[other worlds](#other-worlds) has all. *mean* leaves out sealtools, where nothing can be learned.${multiple(comparisons)}

${successTable(comparisons)}

![Gain in success over runs on banking77](${FILES.curves})`;
}

/** The default's mean gain over that of the published formula. */
function multiple(comparisons: Comparisons): string {
  const [own, published] = [DEFAULT_ROW, REFERENCE_ROW].map((row) => meanGain(comparisons, row));
  if (own === undefined || !published) return "";
  return ` By *mean* \`${DEFAULT_ROW}\` gains ${plain(own / published, 1)} times as much as \`${REFERENCE_ROW}\`.`;
}

/** Rows by sets: similarity's own values, the others' gains. */
function successTable(comparisons: Comparisons): string {
  const sets = setsOf(comparisons);
  return markdownTable(
    ["row", ...sets.map(marked), "mean"],
    bestOfEachGroup(comparisons).map((row) => {
      const average = row === BASELINE_ROW ? undefined : meanGain(comparisons, row);
      return [
        rowName(row),
        ...sets.map((set) => valueOrGain(comparisons.find(row, set, "main"), "success")),
        average === undefined ? "" : signed(average),
      ];
    }),
  );
}

/** Of each group of rows the one that gains most in the mean, in the order of the rows. */
function bestOfEachGroup(comparisons: Comparisons): readonly string[] {
  const gainOf = ({ name }: Row): number => meanGain(comparisons, name) ?? Number.NEGATIVE_INFINITY;
  const measured = ROWS.filter(({ name }) =>
    comparisons.all.some((one) => one.scenario === "main" && one.row === name),
  );
  const best = [...Map.groupBy(measured, ({ group }) => group).values()].map((own) =>
    own.reduce((a, b) => (gainOf(b) > gainOf(a) ? b : a)),
  );
  return measured.filter((row) => best.includes(row)).map(({ name }) => name);
}

const OTHER_MEASURES = [
  ["nDCG@5", "ndcg"],
  ["online success", "online"],
  ["misled (less is better)", "misleading"],
  ["success of unseen needs", "unseenSuccess"],
  ["nDCG@5 of unseen needs", "unseen"],
] as const;

/** Other measures of the rows that matter most; the raw results have all. */
function measureSection(comparisons: Comparisons): string {
  const sets = setsOf(comparisons).filter((set) => LEARNABLE_SETS.includes(set));
  if (sets.length === 0) return "";
  const rows = [REFERENCE_ROW, PREDECESSOR_ROW, DEFAULT_ROW];
  const find = (row: string): readonly Comparison[] => sets.flatMap((set) => comparisons.find(row, set, "main") ?? []);
  const lines = OTHER_MEASURES.map(([name, measure]) => [
    name,
    plain(mean(find(BASELINE_ROW).map((one) => (one.value(measure) as Interval).mean))),
    ...rows.map((row) => gainText(meanOverSets(find(row), measure))),
  ]);
  return `## Other measures

Means of the sets with something to learn.

${markdownTable(["", BASELINE_ROW, ...rows.map(rowName)], lines)}`;
}

/** Mean gain over the sets, with an interval over the seeds; undefined without a set. */
function meanOverSets(sets: readonly Comparison[], measure: Measure): Interval | undefined {
  const [first, ...others] = sets.map((one) => one.gains(measure));
  return first && interval(first.map((gain, seed) => mean([gain, ...others.map((gains) => gains[seed] as number)])));
}

function stressSection(comparisons: Comparisons): string {
  const find = (row: string, name: ScenarioName): Comparison | undefined => comparisons.find(row, STRESS_SET, name);
  const bestOther = (name: ScenarioName): string => {
    const [best] = rivalsByGain(comparisons, (row) => find(row, name)?.gain("success")?.mean);
    return best ? `${gainCell(find(best.row, name))} \`${best.row}\`` : "";
  };
  return `## Other worlds

Gain in success on ${STRESS_SET}. Gains without an interval have two seeds.

${markdownTable(
  ["world", REFERENCE_ROW, "best other", rowName(DEFAULT_ROW)],
  measuredScenarios(comparisons, "stress").map((name) => [
    world(name),
    gainCell(find(REFERENCE_ROW, name)),
    bestOther(name),
    gainCell(find(DEFAULT_ROW, name)),
  ]),
)}

![Gain in success by learner and world](${FILES.heatMap})`;
}

function harmlessSection(comparisons: Comparisons): string {
  const worlds = DATASET_NAMES.flatMap((set) => scenariosOf("harmless").map((scenario) => ({ set, scenario }))).filter(
    ({ set, scenario }) => comparisons.find(DEFAULT_ROW, set, scenario),
  );
  const rows = [REFERENCE_ROW, PREDECESSOR_ROW, DEFAULT_ROW];
  return `## Where there is nothing to learn

The [worst checkpoint](README.md#words) where every memory helps, and its run. ${measuredScenarios(comparisons, "harmless").map(world).join("; ")}.

${markdownTable(
  ["world", ...rows.map(rowName)],
  worlds.map(({ set, scenario }) => [
    `${marked(set)}, \`${scenario}\``,
    ...rows.map((row) => worstCell(comparisons.find(row, set, scenario))),
  ]),
)}`;
}

function sourcesSection(comparisons: Comparisons): string {
  const rows = [REFERENCE_ROW, DEFAULT_ROW, `${DEFAULT_ROW}+audited`];
  const unheard = comparisons.find(`${DEFAULT_ROW}+verified-only`, STRESS_SET, "sources-honest")?.gain("success");
  return `## Sources that lie

Gain in success on ${STRESS_SET}: 70 % of the runs carry a claim of one of ten sources; 7 % are verified, which replaces a claim; the rest has
no outcome. Without the claims \`${DEFAULT_ROW}\` gains ${gainText(unheard)}.

${markdownTable(
  ["the sources", ...rows.map(rowName)],
  measuredScenarios(comparisons, "sources").map((name) => [
    SCENARIOS[name].about,
    ...rows.map((row) => gainText(comparisons.find(row, STRESS_SET, name)?.gain("success"))),
  ]),
)}`;
}

function ownMemoriesSection({ ownMemories }: Comparisons): string {
  if (ownMemories.length === 0) return "";
  const { runs, notes, good, helped, alone, shown, candidates } = OWN_MEMORIES;
  const [host, learned] = [ownMemories.map((one) => one.host), ownMemories.map((one) => one.learned)];
  return `## Own memories

In a collection of \`@qavr/local\`, ${notes} questions of each need of banking77 are memories; ${good} of them help. A run succeeds with a chance of ${helped} if such a one is
among the ${shown} of ${candidates} candidates shown, else of ${alone}. Held-out success after ${runs.toLocaleString("en")} runs, ${ownMemories.length} seeds: ${valueText(interval(host))} by words (BM25), ${gainText(pairedInterval(learned, host))} with \`${DEFAULT_ROW}\`.`;
}

/** `name`: what is different there. */
function world(name: ScenarioName): string {
  return `\`${name}\`: ${SCENARIOS[name].about}`;
}

function scenariosOf(kind: ScenarioKind): readonly ScenarioName[] {
  return SCENARIO_NAMES.filter((name) => SCENARIOS[name].kind === kind);
}

function measuredScenarios(comparisons: Comparisons, kind: ScenarioKind): readonly ScenarioName[] {
  return scenariosOf(kind).filter((name) => comparisons.all.some((one) => one.scenario === name));
}

function setsOf(comparisons: Comparisons): readonly DatasetName[] {
  return DATASET_NAMES.filter((set) => comparisons.find(BASELINE_ROW, set, "main")?.value("success"));
}

/** Similarity's own value, or a row's gain over it. */
function valueOrGain(one: Comparison | undefined, measure: Measure): string {
  return one?.row === BASELINE_ROW ? valueText(one.value(measure)) : gainText(one?.gain(measure));
}

/** With its interval where there are seeds enough for one. */
function gainCell(one: Comparison | undefined): string {
  const gain = one?.gain("success");
  return gain && gain.n <= 2 ? signed(gain.mean) : gainText(gain);
}

function worstCell(one: Comparison | undefined): string {
  if (!one) return "";
  const { runs, gain } = one.worst();
  return `${signed(gain)} (${runs.toLocaleString("en")})`;
}

function rowName(row: string): string {
  return row === DEFAULT_ROW ? `**${row}**` : row;
}

function marked(set: DatasetName): string {
  return DATASETS[set].tunedOn ? `${set} †` : set;
}

function bullets(lines: readonly string[]): string {
  return lines.length > 0 ? lines.map((line) => `- ${line}`).join("\n") : "Nowhere in these worlds.";
}

function method(): string {
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const { helpful, misleading, other } = VOTE_RATES;
  const tuned = DATASET_NAMES.filter((set) => DATASETS[set].tunedOn).join(", ");
  return `## How

\`\`\`sh
npx -y pnpm@12 bench learning              # an hour on two cores, the same numbers on any machine
npx -y pnpm@12 bench learning --rows ${DEFAULT_ROW}   # a part, printed and not written
\`\`\`

- **Rows** are [learners](../reference/learners.md). \`+votes\`: the agent names memories that helped or misled. \`+hashed\`: request vectors are hashes of the texts.
  \`+1536\`: dimensions of embeddings. \`+audited\`: [trust](../reference/engine.md#trust). \`grouped\`: each memory's need is its group. \`by-use\`: a run lists the
  memories of its needs as used. \`needs-inferred\`: the context is the need, as a classifier infers it. \`ideal-observer\`: the most that the log can teach one who
  knows the simulator and all needs.
- **Sets.** A quarter of the texts fit the embedder, a fifth is held out (35 % in nlupp-hotels and sealtools). Memories are four earlier requests per
  need; in nlupp-hotels a description and two requests, in sealtools a description. 15 % of the needs never occur in the stream (none in sealtools), which
  has 3,000 runs (sealtools: each of 1,336 requests once).
- **Similarity.** The strongest of LSA with 256 dimensions, BM25, and their mean. 50 candidates, 5 shown.
- **Worlds.** Half of the memories help, three in ten mislead. Success without and with a helpful memory: .65 / .97, .20 / .90, .05 / .50 for easy,
  normal and hard needs (25, 50, 25 %). A misleading memory of the need: × .4, each further × .8; of another need: × .97.
- **Votes.** Shares praised and blamed: helpful memories ${percent(helpful.helpful)} and ${percent(helpful.harmful)}, misleading ones ${percent(misleading.helpful)} and ${percent(misleading.harmful)}, others
  ${percent(other.helpful)} each.
- **Seeds.** 1 to ${PUBLISHED_SEEDS.length}; other worlds 2 (${PUBLISHED_SEEDS.length} for the default and \`${REFERENCE_ROW}\`); lying sources and the last two rows ${YARDSTICK_SEEDS}. Own learners were tuned on ${tuned}
  with seeds above 100; others have their published constants.

## Data

${bullets(DATASET_NAMES.map((set) => `[${set}](../../packages/lab/data/${set}/README.md): ${DATASETS[set].about}`))}`;
}
