export { type ProcedureProcessorFields, procedureProcessor } from "./procedure-processor.js";
export { type RankedToolsProcessorFields, rankedToolsProcessor } from "./ranked-tools-processor.js";
export { type RankedWorkspaceFields, rankedWorkspace, type SkilledWorkspace } from "./ranked-workspace.js";
