export { CACHE_FOLDER, keptOnDisk } from "./cache/kept-on-disk.js";
export { DATASET_NAMES, DATASETS, type DatasetName } from "./datasets/catalogue.js";
export { checkedRows } from "./datasets/checked-rows.js";
export type { Dataset } from "./datasets/dataset.js";
export { loadDataset } from "./datasets/load-dataset.js";
export { cachedLsa, type Embed, FIT_VERSION, lsaEmbedder } from "./embedding/lsa.js";
export { widener } from "./embedding/widened.js";
export { type HeatMap, heatMap } from "./plot/heat-map.js";
export { linePlot, type PlotSeries } from "./plot/line-plot.js";
export { normal, type Random, seededRandom, shuffle, uniformAt } from "./random/seeded-random.js";
export { installedVersions, type Machine, machine, machineText } from "./report/machine.js";
export {
  gainText,
  markdownTable,
  plain,
  ratioText,
  rounded,
  signed,
  valueText,
  whole,
} from "./report/markdown-table.js";
export { type Interval, interval, mean, median, pairedInterval } from "./statistics/interval.js";
export { parseFlags, runCommand, UsageError } from "./terminal/command-line.js";
export { type Progress, startProgress, withProgress } from "./terminal/progress.js";
export { type Corpus, loadCorpus } from "./world/corpus.js";
export { DIFFICULTIES, MISLEADING } from "./world/difficulty.js";
export { type Report, reports, USED_RATES, used, VOTE_RATES, votes } from "./world/feedback.js";
export { type Judgement, judge, meanJudgement } from "./world/judgement.js";
export type { Quality } from "./world/qualities.js";
export type { Scenario, Sources } from "./world/scenario.js";
export { type LessonText, type Split, splitDataset } from "./world/split.js";
export type { Truth } from "./world/truth.js";
export { createWorld, type Request, type World } from "./world/world.js";
