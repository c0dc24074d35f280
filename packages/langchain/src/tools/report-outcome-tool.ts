import { type DynamicStructuredTool, type ToolRunnableConfig, type ToolSchemaBase, tool } from "@langchain/core/tools";
import type { JsonSchema7Type } from "@langchain/core/utils/json_schema";
import { checkFields, REPORT_DESCRIPTION, REPORT_SCHEMA, type ReportedOutcome, repairReport } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { joinSuspended } from "../runs/run-session.js";
import { answering, noteOwnCall, problemsOf, TOOL_OPTIONS } from "./answering-tool.js";

/** Options of a report tool. */
export interface ReportOutcomeToolOptions {
  /** @default "report_outcome" */
  readonly name?: string | undefined;
  /** Tells the model when to report. */
  readonly description?: string | undefined;
}

/** A tool with which an agent reports on its run; it answers with the result of the recording. */
export type ReportOutcomeTool = DynamicStructuredTool<ToolSchemaBase, ReportedOutcome, ReportedOutcome, string>;

/** @throws INVALID_ARGUMENT */
export function createReportOutcomeTool(
  parts: Pick<MemoryParts, "kit" | "runs" | "scope">,
  options: ReportOutcomeToolOptions = {},
): ReportOutcomeTool {
  checkFields("A report tool", options, TOOL_OPTIONS);
  const { name = "report_outcome", description = REPORT_DESCRIPTION } = options;
  const { kit } = parts;
  const report = async (input: ReportedOutcome, config: ToolRunnableConfig): Promise<string> => {
    if (!kit.engine.enabled) return "Nothing was recorded: learning is switched off.";
    const root = noteOwnCall(parts, config);
    if (!root) return "Nothing was recorded: this run is not tracked.";
    const episodes = async () => {
      await joinSuspended(parts, root);
      return root.session.episodes();
    };
    return kit.reportByAgent(
      episodes,
      { input, problems: problemsOf(input) },
      { id: config.toolCall?.id, runId: root.id },
    );
  };
  return answering(
    tool(report, { name, description, schema: REPORT_SCHEMA as JsonSchema7Type }) as unknown as ReportOutcomeTool,
    repairReport,
  );
}
