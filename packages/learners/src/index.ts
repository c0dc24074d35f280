export type { AdvantageTable, AdvantageVector } from "./advantage-vector.js";
export { type BetaOptions, type BetaPolicy, type BetaShared, beta } from "./beta.js";
export { type ByUseMemory, type ByUseShared, type ByUseTable, byUse } from "./by-use.js";
export { type CavMemory, type CavShared, cav } from "./cav.js";
export { type ContextsOptions, contexts } from "./contexts.js";
export type { ContextsMemory, ContextsShared } from "./contexts-state.js";
export { type GlobalAdvantageOptions, globalAdvantage } from "./global-advantage.js";
export { type GroupedMemory, type GroupedShared, type GroupedTable, grouped } from "./grouped/grouped.js";
export { type JarOptions, jar } from "./jar.js";
export type { JarSetting, JarShared } from "./jar-model.js";
export { type JointLogisticMemory, type JointLogisticOptions, jointLogistic } from "./joint-logistic.js";
export { type JointReplayOptions, type JointReplayShared, jointReplay } from "./joint-replay.js";
export { type KernelMemory, type KernelPrototypesOptions, kernelPrototypes } from "./kernel-prototypes.js";
export { type MemrlOptions, memrl } from "./memrl.js";
export type { MovingAverage } from "./moving-average.js";
export { type Oar1Options, oar1 } from "./oar1/oar1.js";
export type { Oar1Setting } from "./oar1/parameters.js";
export type { Oar1Memory, Oar1Shared } from "./oar1/state.js";
export type { Oar1Table } from "./oar1/table.js";
export { type ReinforcementMemory, type ReinforcementOptions, reinforcement } from "./reinforcement.js";
export type { BaselineShared } from "./request-baseline.js";
export { type RocchioOptions, rocchio } from "./rocchio.js";
export { type Score10Memory, type Score10Options, score10, unreachableScores } from "./score10.js";
export { formatSeedState, parseSeedState, type SeedDocument } from "./seed-format.js";
export { type SuccessRateOptions, successRate } from "./success-rate.js";
export {
  type TimeWeightedMemory,
  type TimeWeightedOptions,
  type TimeWeightedShared,
  timeWeighted,
} from "./time-weighted.js";
export type { WeightedSum } from "./weighted-sum.js";
