import { type DynamicStructuredTool, type ToolRunnableConfig, type ToolSchemaBase, tool } from "@langchain/core/tools";
import type { JsonSchema7Type } from "@langchain/core/utils/json_schema";
import { QavrError } from "@qavr/core";
import { answering, problemsOf, type Repaired } from "./answering-tool.js";
import { findRun } from "./find-run.js";
import type { Internals } from "./internals.js";
import { assertText } from "./ranking-options.js";
import { joinParked, openedEpisodes } from "./run-episodes.js";
import { sortVotes, type Votes } from "./sort-votes.js";

/** Longest note that the engine takes; a model's longer one is cut. */
const MAX_NOTE = 2_000;

/** What a report tool can be told. */
export interface ReportOutcomeToolOptions {
  /** @default "report_outcome" */
  readonly name?: string;
  /** Tells the model when to report. */
  readonly description?: string;
}

/** What a model reports. */
export interface ReportedOutcome {
  readonly success?: boolean;
  readonly helpful?: string[];
  readonly harmful?: string[];
  readonly note?: string;
}

/** A tool that answers a report with what was recorded. */
export type ReportOutcomeTool = DynamicStructuredTool<ToolSchemaBase, ReportedOutcome, ReportedOutcome, string>;

const handles = (description: string): JsonSchema7Type => ({ type: "array", items: { type: "string" }, description });

const SCHEMA: JsonSchema7Type = {
  type: "object",
  properties: {
    success: { type: "boolean", description: "Whether the task succeeded. Leave out when it is not known." },
    helpful: handles('Handles of recalled memories that helped, such as ["m1"].'),
    harmful: handles("Handles of recalled memories that were wrong or misleading."),
    note: { type: "string", description: "Why, in one sentence." },
  },
};

const DESCRIPTION =
  "Report how the current task went and which recalled memories helped or misled, by their handles. " +
  "Call it once, when the result is known.";

/** @throws INVALID_ARGUMENT */
export function createReportOutcomeTool(
  internals: Internals,
  { name = "report_outcome", description = DESCRIPTION }: ReportOutcomeToolOptions = {},
): ReportOutcomeTool {
  assertText("name", name);
  assertText("description", description);
  const report = async (input: ReportedOutcome, config: ToolRunnableConfig): Promise<string> => {
    const problems = problemsOf(input);
    return [await record(internals, input, config), ...problems].join(" ");
  };
  return answering(tool(report, { name, description, schema: SCHEMA }) as unknown as ReportOutcomeTool, repairReport);
}

async function record(internals: Internals, reported: ReportedOutcome, config: ToolRunnableConfig): Promise<string> {
  if (!internals.engine.enabled) return "Nothing was recorded: learning is switched off.";
  const root = findRun(internals.runs, config.callbacks).run?.root;
  if (!root) return "Nothing was recorded: this run is not tracked.";
  try {
    await joinParked(internals, root);
    if (root.episodes.length === 0) return "Nothing was recorded: no memory was recalled in this run.";
    const { success } = reported;
    const votes = await sortVotes(internals.engine, await openedEpisodes(root), reported);
    if (success === undefined && votes.counted === 0) {
      return `Nothing was recorded: say whether the task succeeded, or name recalled memories.${excuse(votes)}`;
    }
    await send(internals, reported, votes, config.toolCall?.id);
    return `Recorded.${excuse(votes)}`;
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

async function send(
  { engine }: Internals,
  { success, note = "" }: ReportedOutcome,
  { byEpisode }: Votes,
  toolCallId: string | undefined,
): Promise<void> {
  for (const { episode, namespace, helpful, harmful } of byEpisode) {
    if (success === undefined && helpful.length + harmful.length === 0) continue;
    await engine.report(
      episode,
      {
        tier: "self-reported",
        reward: success ?? null,
        helpful,
        harmful,
        note,
        // A call that is repeated after an interrupt is the same report.
        ...(toolCallId === undefined ? {} : { idempotencyKey: `tool:${episode}:${toolCallId}` }),
      },
      { namespace },
    );
  }
}

function excuse({ unknown, contradictory }: Votes): string {
  const parts = [
    unknown.length === 0 ? "" : ` Ignored ${unknown.join(", ")}: not shown in this run.`,
    contradictory.length === 0 ? "" : ` Ignored ${contradictory.join(", ")}: named both as helpful and as harmful.`,
  ];
  return parts.join("");
}

/** Keeps the fields that have the right type; a single handle stands for a list of one. */
function repairReport(received: Record<string, unknown>): Repaired<Record<string, unknown>> {
  const { success, helpful, harmful, note } = received;
  const problems: string[] = [];
  const input: Record<string, unknown> = {};
  if (typeof success === "boolean") input.success = success;
  else if (success !== undefined && success !== null) problems.push("Ignored success: it must be true or false.");
  for (const [field, value] of [
    ["helpful", helpful],
    ["harmful", harmful],
  ] as const) {
    const list = typeof value === "string" ? [value] : (value ?? []);
    if (Array.isArray(list) && list.every((name) => typeof name === "string")) input[field] = list;
    else problems.push(`Ignored ${field}: it must be a list of handles.`);
  }
  if (typeof note === "string") input.note = note.slice(0, MAX_NOTE).toWellFormed();
  return { input, problems };
}
