import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import { cutNote, type EpisodeOfRun } from "./agent-report.js";
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

const ID = { type: "string", description: "Id of the procedure, as listed." } as const;

/** A tool of procedures: its text for a model, and its answer to a model's input. */
export interface ProcedureTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly schema: object;
  /** @param ofRun The run's episodes. @returns A sentence for the model, also about what was wrong. */
  answer(
    source: ProcedureSource,
    input: Readonly<Record<string, unknown>>,
    ofRun: readonly EpisodeOfRun[],
  ): Promise<string>;
}

/** Gives a model the text of a procedure. */
const LOAD: ProcedureTool = {
  name: "load_procedure",
  description: "Get the steps of a procedure from the list. Load it before you follow it.",
  schema: { type: "object", properties: { id: ID }, required: ["id"] },
  answer: (source, { id }, ofRun) => answering(async () => (await source.load(String(id), ofRun[0])).text),
};

/** Records a model's report on one procedure, tier `self-reported`. Without a success nothing is recorded. */
const REPORT: ProcedureTool = {
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
  async answer(source, { id, success, notes }, ofRun) {
    if (typeof success !== "boolean")
      return "Nothing was recorded: success must be true or false. Report when it is known.";
    return answering(async () => {
      const note = typeof notes === "string" ? { notes: cutNote(notes) } : {};
      await source.report(String(id), { ...ofRun[0], success, ...note });
      return "Recorded.";
    });
  },
};

/** The tools of procedures, with names and JSON Schema. */
export const PROCEDURE_TOOLS: readonly ProcedureTool[] = [LOAD, REPORT];

const INTRODUCTION =
  `Procedures that may fit this task, best first. Load one with ${LOAD.name} before you follow it, and report with ` +
  `${REPORT.name} whether it worked.`;

/** A listing for a prompt, from the lines of its procedures. */
export function procedureListing(lines: readonly string[]): string {
  return [INTRODUCTION, ...lines].join("\n");
}

/** @throws INVALID_ARGUMENT unless it is what `openProcedures()` returned */
export function assertProcedures(procedures: ProcedureSource | undefined): void {
  if (typeof procedures?.collection?.search !== "function") {
    throw illegalOption("procedures", "procedures must be what openProcedures() returned", procedures);
  }
}

/** A procedure's line in a listing: `- procedure:deploy: ships a service`. */
export function procedureLine({ id, metadata = {} }: Pick<FoundProcedure, "id" | "metadata">): string {
  const { procedure = id, description = "" } = metadata as {
    readonly procedure?: string;
    readonly description?: string;
  };
  return promptLine(undefined, `${procedure}: ${description}`);
}

/** A model gets refusals as an answer: its run goes on. */
async function answering(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    return QavrError.isInstance(error) ? error.message : "This failed. Go on without it.";
  }
}
