import {
  DATASET_NAMES,
  DATASETS,
  type DatasetName,
  gainText,
  interval,
  markdownTable,
  pairedInterval,
  plain,
  signed,
  VOTE_RATES,
  valueText,
} from "@qavr/lab";
import type { Comparison, Comparisons, Measure } from "./comparison.js";
import { losses } from "./losses.js";
import { OWN_MEMORIES } from "./own-memories.js";
import { STRESS_SET } from "./plan.js";
import { BASELINE_ROW, DEFAULT_ROW, REFERENCE_ROW, YARDSTICK_SEEDS } from "./rows.js";
import { SCENARIO_NAMES, SCENARIOS, type ScenarioKind, type ScenarioName } from "./scenarios.js";
import { LEARNABLE_SETS, meanGain, meanMultiple, type Target, type TargetResult, targetResults } from "./targets.js";

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
    targetSection(comparisons),
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

Every learner on the same streams, in the same engine. The default is \`${DEFAULT_ROW}\`; \`${REFERENCE_ROW}\` is the published formula behind the
project's name. Numbers are differences from plain similarity in the same worlds, paired by seed, with 95 % t intervals, unless a table
says otherwise. Texts are real, outcomes are simulated. Raw results: [${FILES.raw}](${FILES.raw}).`;
}

function targetSection(comparisons: Comparisons): string {
  const results = targetResults(comparisons);
  const reached = results.filter(({ verdict }) => verdict === "met" || verdict === "aim met").length;
  const table = markdownTable(
    ["demanded of the default learner", "must", "aim", "measured", "verdict"],
    results.map(({ target, value, verdict }) => [
      target.what,
      target.must === undefined ? "" : bar(target, target.must),
      bar(target, target.aim),
      value === undefined ? "–" : amount(target, value),
      verdict === "missed" ? "**missed**" : verdict,
    ]),
  );
  return `## Targets

${reached} of ${results.length} are met. The cost of an outcome: [stores](stores.md#recording-outcomes).

${table}`;
}

function bar(target: Target, value: number): string {
  return `${target.atMost ? "≤" : "≥"} ${amount(target, value)}`;
}

function amount({ unit }: Target, value: TargetResult["value"] & number): string {
  if (unit === "times") return `${plain(value, 1)} ×`;
  if (unit === "share") return `${plain(100 * value, 0)} %`;
  if (unit === "runs") return value.toLocaleString("en");
  return signed(value);
}

function mainSection(comparisons: Comparisons): string {
  return `## Success

True probability of success, averaged over 400 held-out requests, after 3,000 runs. † tuned on, with other seeds. *mean* leaves out
sealtools, where there is nothing to learn; the last column is the mean of each set's multiple of \`${REFERENCE_ROW}\`'s gain.${quotientOfMeans(comparisons)}

${setTable(comparisons, "success", true)}

![Gain in success over runs on banking77](${FILES.curves})

Gain in success after 100 / 300 / 1,000 runs.

${earlyTable(comparisons)}`;
}

/** The multiple of the mean gains, beside the mean of the multiples. */
function quotientOfMeans(comparisons: Comparisons): string {
  const [own, published] = [DEFAULT_ROW, REFERENCE_ROW].map((row) => meanGain(comparisons, row));
  if (own === undefined || !published) return "";
  return `
The quotient of the mean gains is ${plain(own / published, 1)} × for \`${DEFAULT_ROW}\`.`;
}

function measureSection(comparisons: Comparisons): string {
  return `## Other measures

nDCG@5 of helpful memories on the held-out requests.

${setTable(comparisons, "ndcg")}

Online success: the mean over the stream's own runs, so the cost of learning is included.

${setTable(comparisons, "online")}

Share of held-out requests shown a misleading memory of their need. Less is better.

${setTable(comparisons, "misleading")}

nDCG@5 on needs that never occurred in the stream.

${setTable(comparisons, "unseen")}`;
}

function stressSection(comparisons: Comparisons): string {
  return `## Other worlds

Gain in success on ${STRESS_SET} after 3,000 runs.

${worldList("stress")}

${scenarioTable(comparisons, "stress", (one) => gainText(one.gain("success")))}

![Gain in success by learner and world](${FILES.heatMap})

The worst checkpoint in each world: least mean gain in success, and after how many runs.

${scenarioTable(comparisons, "stress", (one) => {
  const { runs, gain } = one.worst();
  return `${signed(gain)} (${runs.toLocaleString("en")})`;
})}`;
}

function harmlessSection(comparisons: Comparisons): string {
  const columns = DATASET_NAMES.flatMap((set) => scenariosOf("harmless").map((scenario) => ({ set, scenario }))).filter(
    ({ set, scenario }) => comparisons.find(DEFAULT_ROW, set, scenario),
  );
  const rows = rowsOf(comparisons, (one) => SCENARIOS[one.scenario].kind === "harmless" && one.row !== BASELINE_ROW);
  return `## Where there is nothing to learn

The worst checkpoint where all memories are right: least mean gain in success, and after how many runs.

${worldList("harmless")}

${markdownTable(
  ["row", ...columns.map(({ set, scenario }) => `${marked(set)}, ${scenario}`)],
  rows.map((row) => [
    rowName(row),
    ...columns.map(({ set, scenario }) => {
      const one = comparisons.find(row, set, scenario);
      return one ? `${signed(one.worst().gain)} (${one.worst().runs.toLocaleString("en")})` : "";
    }),
  ]),
)}`;
}

function sourcesSection(comparisons: Comparisons): string {
  return `## Sources that lie

On ${STRESS_SET}, 70 % of the runs carry a claim of one of ten sources and 7 % are verified, unless a line says otherwise. A verified outcome
replaces a claim; a run with neither has no outcome. Gain in success after 3,000 runs, and the worst checkpoint.

${worldList("sources")}

${scenarioTable(comparisons, "sources", (one) => {
  const { gain } = one.worst();
  return `${gainText(one.gain("success"))} (${signed(gain)})`;
})}`;
}

function ownMemoriesSection({ ownMemories }: Comparisons): string {
  if (ownMemories.length === 0) return "";
  const { runs, notes, good, helped, alone, shown, candidates } = OWN_MEMORIES;
  const [host, learned] = [ownMemories.map((one) => one.host), ownMemories.map((one) => one.learned)];
  return `## Own memories

A collection of \`@qavr/local\` in place of embeddings: SQLite's FTS5 finds candidates by their words. ${notes} questions of each of banking77's needs are
memories, ${good} of them help. A run that is shown one of its own need succeeds with a chance of ${helped}, else of ${alone}; the engine sees one bit per run
and chooses ${shown} of ${candidates} candidates. Success on held-out requests after ${runs.toLocaleString("en")} runs; ${ownMemories.length} seeds.

${markdownTable(
  ["ranked by", "held-out success", "gain"],
  [
    ["words (BM25)", valueText(interval(host)), ""],
    [rowName(DEFAULT_ROW), valueText(interval(learned)), gainText(pairedInterval(learned, host))],
  ],
)}`;
}

function worldList(kind: ScenarioKind): string {
  return bullets(scenariosOf(kind).map((name) => `\`${name}\`: ${SCENARIOS[name].about}`));
}

function scenariosOf(kind: ScenarioKind): readonly ScenarioName[] {
  return SCENARIO_NAMES.filter((name) => SCENARIOS[name].kind === kind);
}

/** Rows by sets: similarity's own values, the others' gains. */
function setTable(comparisons: Comparisons, measure: Measure, means = false): string {
  const sets = DATASET_NAMES.filter((set) => comparisons.find(BASELINE_ROW, set, "main")?.value(measure));
  return markdownTable(
    ["row", ...sets.map(marked), ...(means ? ["mean", `÷ \`${REFERENCE_ROW}\``] : [])],
    rowsOf(comparisons, (one) => one.scenario === "main").map((row) => {
      const cells = sets.map((set) => {
        const one = comparisons.find(row, set, "main");
        return row === BASELINE_ROW ? valueText(one?.value(measure)) : gainText(one?.gain(measure));
      });
      if (!means) return [rowName(row), ...cells];
      const average = row === BASELINE_ROW ? undefined : meanGain(comparisons, row);
      const times = row === BASELINE_ROW ? undefined : meanMultiple(comparisons, row);
      return [
        rowName(row),
        ...cells,
        average === undefined ? "" : signed(average),
        times === undefined ? "" : `${plain(times, 1)} ×`,
      ];
    }),
  );
}

function earlyTable(comparisons: Comparisons): string {
  const sets = LEARNABLE_SETS.filter((set) => comparisons.find(BASELINE_ROW, set, "main"));
  const cell = (row: string, set: DatasetName): string =>
    (comparisons.find(row, set, "main")?.curve("success") ?? [])
      .filter(({ runs }) => [100, 300, 1000].includes(runs))
      .map(({ gain }) => signed(gain.mean))
      .join(" / ");
  return markdownTable(
    ["row", ...sets.map(marked)],
    rowsOf(comparisons, (one) => one.scenario === "main" && one.row !== BASELINE_ROW).map((row) => [
      rowName(row),
      ...sets.map((set) => cell(row, set)),
    ]),
  );
}

function scenarioTable(comparisons: Comparisons, kind: ScenarioKind, cell: (one: Comparison) => string): string {
  const scenarios = scenariosOf(kind).filter((name) => comparisons.all.some((one) => one.scenario === name));
  const rows = rowsOf(comparisons, (one) => SCENARIOS[one.scenario].kind === kind && one.row !== BASELINE_ROW);
  return markdownTable(
    ["row", ...scenarios.map((name) => name.replace("sources-", ""))],
    rows.map((row) => [
      rowName(row),
      ...scenarios.map((name) => {
        const one = comparisons.find(row, STRESS_SET, name);
        return one ? cell(one) : "";
      }),
    ]),
  );
}

/** Names of the rows with a comparison that passes, in the order of the tables. */
function rowsOf(comparisons: Comparisons, passes: (one: Comparison) => boolean): readonly string[] {
  return [...new Set(comparisons.all.filter(passes).map((one) => one.row))];
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
  return `## How

\`\`\`sh
npx -y pnpm@12 bench learning              # everything on this page
npx -y pnpm@12 bench learning --rows ${DEFAULT_ROW}   # a part, printed and not written
npx -y pnpm@12 bench learning --help
\`\`\`

The numbers do not depend on the machine. Everything takes less than half an hour on two cores.

- **Rows.** Learners in the engine over its memory store. \`+votes\`: the agent names memories that helped or misled. \`+hashed\`: the request vector
  is the hash of the text. \`+1536\`: embeddings turned into 1,536 dimensions. \`+verified-only\`: claims are ignored. \`${REFERENCE_ROW}-table\`: the formula's
  reward table instead of 1 and 0. \`grouped\`: the host names each memory's need as its group;
  \`+random\`: groups of four at random. \`by-use\`: a run lists the memories of its needs that it was shown as used; \`+wrong\`: three flags in ten are
  wrong. \`needs-inferred\`: the host names as context the need that a classifier infers, which learns from the true
  needs of all earlier runs. \`ideal-observer\`: what can be learned from the default learner's own log at most. It knows the simulator and the need of each
  request and memory, but not how hard a need is and which memories help; it keeps the exact posterior of these and shows held-out requests the list
  of greatest expected success; a part of its gain is that knowledge, before any run. Both run where each request has one need. \`langchain-time-weighted\`: LangChain's \`TimeWeightedVectorStoreRetriever\`.
- **Sets.** A quarter of the texts fit the embedder, a fifth is held out (35 % in nlupp-hotels and sealtools). Memories are four earlier requests per
  need; in nlupp-hotels a description and two requests, in sealtools a description. 15 % of the needs are kept out of the stream (none in sealtools).
  A stream has 3,000 runs; sealtools asks each of its 1,336 requests once.
- **Similarity.** LSA of 256 dimensions, BM25, or their mean, whichever is strongest. 50 candidates, 5 shown.
- **Worlds.** Half of the memories help, three in ten mislead. Success without and with a helpful memory: .65 / .97, .20 / .90, .05 / .50 for easy,
  normal and hard needs (25, 50, 25 %). A misleading memory of the need: × .4, each further × .8; of another need: × .97. Luck belongs to seed and run.
- **Votes.** A helpful memory is praised in ${percent(helpful.helpful)} and blamed in ${percent(helpful.harmful)} of its showings, a misleading one blamed in ${percent(misleading.harmful)} and praised in
  ${percent(misleading.helpful)}, any other praised or blamed in ${percent(other.helpful)} each.
- **Seeds.** 1 to 8; other worlds 2 (8 for default, \`${REFERENCE_ROW}\` and similarity); sources that lie 4, \`needs-inferred\` and \`ideal-observer\` ${YARDSTICK_SEEDS}. Own learners were tuned on ${DATASET_NAMES.filter((set) => DATASETS[set].tunedOn).join(", ")} with
  seeds above 100; others have their published constants.

## Data

${bullets(DATASET_NAMES.map((set) => `[${set}](../../packages/lab/data/${set}/README.md): ${DATASETS[set].about}`))}`;
}
