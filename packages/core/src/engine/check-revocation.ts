import { illegalOption } from "../errors/illegal-option.js";
import { assertConditionsGiven, checkFields, checkSwitch, type FieldsOf } from "../errors/known-fields.js";
import { QavrError } from "../errors/qavr-error.js";
import type { RevokeEvent } from "../ledger/events.js";
import { assertName } from "../store/validate.js";
import type { RevokeOptions } from "./types.js";

const CONDITIONS = { source: true, from: true, to: true, fromSeq: true, toSeq: true } as const;
const OPTIONS: FieldsOf<RevokeOptions> = { namespace: true, ...CONDITIONS, dryRun: true };

/** @throws INVALID_ARGUMENT without a condition, for one that is undefined or unknown, or for an empty range; INVALID_ID, LIMIT_EXCEEDED */
export function checkRevocation(options: RevokeOptions): RevokeEvent {
  checkFields(options, "What to revoke", "revoke has no option", OPTIONS);
  assertConditionsGiven(options, "revoke", Object.keys(CONDITIONS));
  const { source, from, to, fromSeq, toSeq, dryRun } = options;
  if ([source, from, to, fromSeq, toSeq].every((condition) => condition === undefined)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      "A revocation needs a source, a time or a place: source, from, to, fromSeq or toSeq. To erase everything, call engine.forget({ namespace }).",
    );
  }
  checkSwitch(dryRun, "dryRun");
  if (source !== undefined) assertName(source, "source");
  checkRange("from", from, "to", to, "a time in Unix ms", Number.isFinite);
  checkRange("fromSeq", fromSeq, "toSeq", toSeq, "a place in the ledger, a whole number of at least 1", isPlace);
  return {
    type: "revoke",
    source,
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    fromSeq: fromSeq ?? 1,
    toSeq: toSeq ?? Number.POSITIVE_INFINITY,
  };
}

function isPlace(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function checkRange(
  lowName: string,
  low: number | undefined,
  highName: string,
  high: number | undefined,
  what: string,
  legal: (value: unknown) => boolean,
): void {
  for (const [name, value] of [
    [lowName, low],
    [highName, high],
  ] as const) {
    if (value === undefined || legal(value)) continue;
    throw illegalOption(name, `${name} must be ${what}`, value);
  }
  if (low !== undefined && high !== undefined && low > high) {
    throw new QavrError("INVALID_ARGUMENT", `${lowName} (${low}) lies after ${highName} (${high}). Exchange them.`, {
      details: { [lowName]: low, [highName]: high },
    });
  }
}
