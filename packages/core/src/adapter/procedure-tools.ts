import { QavrError } from "../errors/qavr-error.js";
import type { EpisodeOfRun } from "./agent-report.js";
import { promptLine } from "./prompt-line.js";

/** Procedures, as `openProcedures()` of `@qavr/markdown` gives them with the memory's engine. */
export interface ProcedureSource {
  readonly collection: {
    readonly name: string;
    search(query: { readonly text: string; readonly limit?: number }): Promise<readonly FoundProcedure[]>;
  };
  load(id: string, run?: RunOfProcedure): Promise<{ readonly text: string }>;
  report(
    id: string,
    outcome: RunOfProcedure & { readonly success: boolean | null; readonly notes?: string },
  ): Promise<unknown>;
}

/** A procedure that a search found: one version of it. */
export interface FoundProcedure {
  readonly id: string;
  readonly text: string;
  readonly similarity: number;
  readonly metadata?: object;
}

interface RunOfProcedure {
  readonly episode?: string;
  readonly namespace?: string;
}

/** Characters of a listing's lines. */
export const PROCEDURE_CHARACTERS = 4_000;

/** A tool as a model is told of it; `schema` is JSON Schema. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

const ID = { type: "string", description: "Id of the procedure, as listed." } as const;

/** The tool that gives a model the text of a procedure: names and JSON Schema. */
export const LOAD_PROCEDURE: ModelTool = {
  name: "load_procedure",
  description: "Get the steps of a procedure from the list. Load it before you follow it.",
  schema: { type: "object", properties: { id: ID }, required: ["id"] },
};

/** The tool with which a model reports on one procedure: names and JSON Schema. */
export const REPORT_PROCEDURE: ModelTool = {
  name: "report_procedure_outcome",
  description:
    "Report whether a procedure served the task, once its result is known. Each procedure is reported by itself.",
  schema: {
    type: "object",
    properties: {
      id: ID,
      success: { type: "boolean", description: "Leave out while it is not known." },
      notes: { type: "string", description: "Why, in one sentence." },
    },
    required: ["id"],
  },
};

/** The sentence above a listing. */
export const PROCEDURES_INTRODUCTION: string =
  `Procedures that may fit this task, best first. Load one with ${LOAD_PROCEDURE.name} before you follow it, and report with ` +
  `${REPORT_PROCEDURE.name} whether it worked.`;

/** A procedure's line in a listing: `- procedure:deploy: ships a service`. */
export function procedureLine({ id, metadata = {} }: Pick<FoundProcedure, "id" | "metadata">): string {
  const { procedure = id, description = "" } = metadata as {
    readonly procedure?: string;
    readonly description?: string;
  };
  return promptLine(undefined, `${procedure}: ${description}`);
}

/** Loads a procedure for a model and returns its text, or a sentence about what was wrong. @param ofRun The run's episodes. */
export async function loadProcedure(
  source: ProcedureSource,
  { id }: Readonly<Record<string, unknown>>,
  ofRun: readonly EpisodeOfRun[],
): Promise<string> {
  return answering(async () => (await source.load(String(id), ofRun[0])).text);
}

/**
 * Records a model's report on one procedure, tier `self-reported`, and returns a sentence for the model. Without a success nothing is
 * recorded.
 *
 * @param ofRun The run's episodes.
 */
export async function reportProcedure(
  source: ProcedureSource,
  { id, success, notes }: Readonly<Record<string, unknown>>,
  ofRun: readonly EpisodeOfRun[],
): Promise<string> {
  if (typeof success !== "boolean")
    return "Nothing was recorded: success must be true or false. Report when it is known.";
  return answering(async () => {
    const note = typeof notes === "string" ? { notes: notes.slice(0, MAX_NOTES).toWellFormed() } : {};
    await source.report(String(id), { ...ofRun[0], success, ...note });
    return "Recorded.";
  });
}

const MAX_NOTES = 2_000;

/** A model gets refusals as an answer: its run goes on. */
async function answering(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    return QavrError.isInstance(error) ? error.message : "This failed. Go on without it.";
  }
}
