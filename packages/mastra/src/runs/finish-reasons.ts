import { type OutcomeInput, QavrError } from "@qavr/core";
import { checkOutcome, type Outcome, toOutcomeInput } from "@qavr/core/adapter";
import { storable } from "./aliases.js";

/**
 * How a run can end: Mastra's finish reasons; `tool-error` for a run that ended by itself (`stop`) although a tool failed in the
 * last of its steps with tool calls, `tool-declined` if none failed and a person declined one; `incomplete` for a run that stopped while its completion check still failed; `client-tools` for
 * a run that called a client's tool and continues in another run.
 */
export type FinishReason =
  | "stop"
  | "tool-error"
  | "tool-declined"
  | "tool-calls"
  | "incomplete"
  | "client-tools"
  | "error"
  | "length"
  | "content-filter"
  | "tripwire"
  | "aborted"
  | "other"
  | "unknown";

/** The outcome of each end; null for no outcome, undefined for the default. */
export type FinishOutcomes = Readonly<Partial<Record<FinishReason, Outcome | null | undefined>>>;

/**
 * The default outcome of each end. `stop` is nearly always a success, also for an apology, so it counts little; so does a run
 * that used up its steps (`tool-calls`; Mastra gives the same reason where `stopWhen` held or a hook stopped it) or its attempts (`incomplete`). Declined,
 * blocked, cut off and aborted runs are no evidence.
 */
export const FINISH_OUTCOMES: Readonly<Record<FinishReason, OutcomeInput | null>> = {
  stop: { reward: 1, tier: "completed" },
  "tool-error": { reward: 0, tier: "completed" },
  "tool-declined": null,
  "tool-calls": { reward: 0, tier: "completed" },
  incomplete: { reward: 0, tier: "completed" },
  "client-tools": null,
  error: { reward: 0, tier: "observed" },
  length: null,
  "content-filter": null,
  tripwire: null,
  aborted: null,
  other: null,
  unknown: null,
};

/** The default table with an application's own rows. @throws INVALID_ARGUMENT for a row that is no outcome */
export function finishOutcomes(own: FinishOutcomes = {}): Readonly<Record<string, OutcomeInput | null>> {
  if (typeof own !== "object" || own === null || Array.isArray(own)) {
    throw new QavrError("INVALID_ARGUMENT", "qavr.outcomes must be an object of outcomes by finish reason.");
  }
  const rows = Object.entries(own).flatMap(([reason, outcome]): (readonly [string, OutcomeInput | null])[] => {
    if (!Object.hasOwn(FINISH_OUTCOMES, reason)) {
      throw refused(reason, `is no finish reason. The reasons are ${Object.keys(FINISH_OUTCOMES).join(", ")}.`);
    }
    if (outcome === undefined) return [];
    if (outcome === null) return [[reason, null]];
    return [[reason, checkedRow(reason, outcome)]];
  });
  return { ...FINISH_OUTCOMES, ...Object.fromEntries(rows) };
}

function checkedRow(reason: string, outcome: Outcome): OutcomeInput {
  try {
    const row = toOutcomeInput(outcome, storable, { tier: "completed" });
    checkOutcome(row);
    if (row.reward !== undefined) return row;
  } catch (error) {
    throw refused(reason, `is no outcome. ${(error as Error).message}`, error);
  }
  throw refused(reason, "needs success or a reward in [0, 1].");
}

function refused(reason: string, rule: string, cause?: unknown): QavrError {
  const details = { reason };
  return new QavrError("INVALID_ARGUMENT", `qavr.outcomes: ${reason} ${rule}`, { details, cause });
}
