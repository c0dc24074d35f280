import type { Engine } from "../engine/types.js";
import type { EpisodeOfRun } from "./shown-names.js";
import { sortVotes, type Votes } from "./sort-votes.js";

/** Longest note that the engine takes; a model's longer one is cut. */
const MAX_NOTE = 2_000;

/** What a model reports about its own run. */
export interface ReportedOutcome {
  readonly success?: boolean;
  readonly helpful?: string[];
  readonly harmful?: string[];
  readonly note?: string;
}

/** A JSON Schema, as far as the report's needs one. */
export interface ReportSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<keyof ReportedOutcome, ReportField>>;
}

interface ReportField {
  readonly type: "boolean" | "string" | "array";
  readonly description: string;
  readonly items?: { readonly type: "string" };
}

const handles = (description: string): ReportField => ({ type: "array", items: { type: "string" }, description });

/** The JSON Schema of {@link ReportedOutcome}; every field may be left out. */
export const REPORT_SCHEMA: ReportSchema = {
  type: "object",
  properties: {
    success: { type: "boolean", description: "Whether the task succeeded. Leave out when it is not known." },
    helpful: handles('Handles of recalled memories that helped, such as ["m1"].'),
    harmful: handles("Handles of recalled memories that were wrong or misleading."),
    note: { type: "string", description: "Why, in one sentence." },
  },
};

/** Tells a model when to report. */
export const REPORT_DESCRIPTION: string =
  "Report how the current task went and which recalled memories helped or misled, by their handles. " +
  "Call it once, when the result is known.";

/** What a model sent, in the shape that the schema asks for, and what had to be left out. */
export interface RepairedReport {
  readonly input: ReportedOutcome;
  readonly problems: readonly string[];
}

/** Keeps the fields that have the right type; a single handle stands for a list of one. */
export function repairReport(received: Readonly<Record<string, unknown>>): RepairedReport {
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

/**
 * Records what an agent says about its own run, tier `self-reported`, and answers with a sentence for the model. Handles that
 * it made up are ignored and named; the rest of its report counts.
 *
 * @param ofRun The run's episodes.
 * @param callId Id of the tool call: one that is repeated is the same report.
 * @throws the engine's codes
 */
export async function recordAgentReport(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  reported: ReportedOutcome,
  callId: string | undefined,
): Promise<string> {
  if (ofRun.length === 0) return "Nothing was recorded: no memory was recalled in this run.";
  const { success } = reported;
  const votes = await sortVotes(engine, ofRun, reported);
  if (success === undefined && votes.counted === 0) {
    return `Nothing was recorded: say whether the task succeeded, or name recalled memories.${excuse(votes)}`;
  }
  await send(engine, reported, votes, callId);
  return `Recorded.${excuse(votes)}`;
}

async function send(
  engine: Engine,
  { success, note = "" }: ReportedOutcome,
  { byEpisode }: Votes,
  callId: string | undefined,
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
        ...(callId === undefined ? {} : { idempotencyKey: `tool:${episode}:${callId}` }),
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
