import { OUTCOME_TIERS, type OutcomeInput, QavrError } from "@qavr/core";
import { type Outcome, toOutcomeInput } from "@qavr/core/adapter";
import { storable } from "./storable.js";

/**
 * How a run can end: Mastra's finish reasons; `tool-error` for a run that ended by itself (`stop`) although a tool failed in the
 * last of its steps that called any; `incomplete` for one that stopped while its completion check still said no; `client-tools` for one
 * that called a tool which its client runs, and goes on in another run.
 */
export type FinishReason =
  | "stop"
  | "tool-error"
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

/** What each end says about the memories that the run was shown; null says nothing, undefined what it says by default. */
export type FinishOutcomes = Readonly<Partial<Record<FinishReason, Outcome | null | undefined>>>;

/**
 * What an end says unless told otherwise. `stop` is nearly always true, also of an apology, so it counts little; so does a run
 * that used up its steps (`tool-calls`) or its attempts (`incomplete`). Blocked, cut off and aborted runs say nothing about memories.
 */
export const FINISH_OUTCOMES: Readonly<Record<FinishReason, OutcomeInput | null>> = {
  stop: { reward: 1, tier: "completed" },
  "tool-error": { reward: 0, tier: "completed" },
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
      throw refused(reason, `is no finish reason. The reasons are ${Object.keys(FINISH_OUTCOMES).join(", ")}`);
    }
    if (outcome === undefined) return [];
    if (outcome === null) return [[reason, null]];
    const row = toOutcomeInput(outcome, storable, { tier: "completed" });
    const { reward, tier = "completed" } = row;
    const legal =
      reward === null || typeof reward === "boolean" || (typeof reward === "number" && reward >= 0 && reward <= 1);
    if (!legal) throw refused(reason, "needs success or a reward in [0, 1]");
    if (!OUTCOME_TIERS.includes(tier)) throw refused(reason, `needs one of the tiers ${OUTCOME_TIERS.join(", ")}`);
    return [[reason, row]];
  });
  return { ...FINISH_OUTCOMES, ...Object.fromEntries(rows) };
}

function refused(reason: string, rule: string): QavrError {
  return new QavrError("INVALID_ARGUMENT", `qavr.outcomes: ${reason} ${rule}.`, { details: { reason } });
}
