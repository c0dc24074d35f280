import { type DynamicStructuredTool, type ToolRunnableConfig, type ToolSchemaBase, tool } from "@langchain/core/tools";
import type { JsonSchema7Type } from "@langchain/core/utils/json_schema";
import { QavrError } from "@qavr/core";
import {
  assertKnownFields,
  type FieldsOf,
  REPORT_DESCRIPTION,
  REPORT_SCHEMA,
  type ReportedOutcome,
  recordAgentReport,
  repairReport,
} from "@qavr/core/adapter";
import type { Internals } from "../internals.js";
import { assertText } from "../ranking/ranking-options.js";
import { findRun } from "../runs/find-run.js";
import { joinParked, openedEpisodes } from "../runs/run-episodes.js";
import { answering, problemsOf, type Repaired } from "./answering-tool.js";

/** What a report tool can be told. */
export interface ReportOutcomeToolOptions {
  /** @default "report_outcome" */
  readonly name?: string | undefined;
  /** Tells the model when to report. */
  readonly description?: string | undefined;
}

/** A tool that answers a report with what was recorded. */
export type ReportOutcomeTool = DynamicStructuredTool<ToolSchemaBase, ReportedOutcome, ReportedOutcome, string>;

const OPTIONS: FieldsOf<ReportOutcomeToolOptions> = { name: true, description: true };

/** @throws INVALID_ARGUMENT */
export function createReportOutcomeTool(
  internals: Internals,
  options: ReportOutcomeToolOptions = {},
): ReportOutcomeTool {
  assertKnownFields(options, "A report tool has no option", OPTIONS);
  const { name = "report_outcome", description = REPORT_DESCRIPTION } = options;
  assertText("name", name);
  assertText("description", description);
  const report = async (input: ReportedOutcome, config: ToolRunnableConfig): Promise<string> => {
    const problems = problemsOf(input);
    return [await record(internals, input, config), ...problems].join(" ");
  };
  return answering(
    tool(report, { name, description, schema: REPORT_SCHEMA as JsonSchema7Type }) as unknown as ReportOutcomeTool,
    repair,
  );
}

async function record(internals: Internals, reported: ReportedOutcome, config: ToolRunnableConfig): Promise<string> {
  if (!internals.engine.enabled) return "Nothing was recorded: learning is switched off.";
  const root = findRun(internals.runs, config.callbacks).run?.root;
  if (!root) return "Nothing was recorded: this run is not tracked.";
  try {
    await joinParked(internals, root);
    return await recordAgentReport(internals.engine, await openedEpisodes(root), reported, config.toolCall?.id);
  } catch (error) {
    if (internals.throws) throw error;
    const code = QavrError.isInstance(error) ? error.code : "unexpected error";
    internals.log("error", "OUTCOME_NOT_RECORDED", "An agent's report could not be recorded.", {
      runId: root.id,
      error,
    });
    return `The report could not be recorded (${code}). Go on without it.`;
  }
}

function repair(received: Record<string, unknown>): Repaired<Record<string, unknown>> {
  const { input, problems } = repairReport(received);
  return { input: { ...input }, problems };
}
