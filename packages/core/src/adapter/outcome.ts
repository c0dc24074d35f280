import type { OutcomeInput } from "../engine/types.js";
import { definedOnly } from "../errors/defined-only.js";
import { checkFields, type FieldsOf } from "../errors/known-fields.js";
import { QavrError } from "../errors/qavr-error.js";

/**
 * How a run went, as an application says it. Every field is optional: `{}` means that nobody knows.
 * Memories are named by their short handle (`m1`) or by their id.
 */
export type Outcome = Omit<OutcomeInput, "reward"> & (BySuccess | ByReward);

interface BySuccess {
  /** Short for `reward: 1` or `reward: 0`. Give one of the two. */
  readonly success?: boolean | undefined;
  readonly reward?: undefined;
}

interface ByReward extends Pick<OutcomeInput, "reward"> {
  readonly success?: undefined;
}

const FIELDS: FieldsOf<Outcome> = {
  success: true,
  reward: true,
  helpful: true,
  harmful: true,
  used: true,
  tier: true,
  source: true,
  weight: true,
  note: true,
  idempotencyKey: true,
};

/**
 * The engine's form of an outcome.
 *
 * @param storable The id under which the adapter keeps a memory that is named so: see `storableId`.
 * @param defaults Used for what the outcome leaves open.
 * @throws INVALID_ARGUMENT when both `success` and `reward` are given, or a field is unknown or has the wrong type.
 */
export function toOutcomeInput(
  outcome: Outcome,
  storable: (name: string) => string,
  defaults: OutcomeInput = {},
): OutcomeInput {
  checkFields(outcome, "An outcome, such as { success: true },", "An outcome has no field", FIELDS);
  const { success, helpful, harmful, used, ...rest }: Outcome = definedOnly(outcome, FIELDS);
  if (success !== undefined && rest.reward !== undefined) {
    throw new QavrError("INVALID_ARGUMENT", "An outcome has either success or reward, not both.");
  }
  if (success !== undefined && typeof success !== "boolean") {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `success must be true or false. Received ${typeof success}. Use reward for shades.`,
    );
  }
  return {
    ...defaults,
    ...rest,
    ...(success === undefined ? {} : { reward: success }),
    ...named("helpful", helpful, storable),
    ...named("harmful", harmful, storable),
    ...named("used", used, storable),
  };
}

function named<Field extends string>(
  field: Field,
  ids: unknown,
  storable: (name: string) => string,
): { [key in Field]?: string[] } {
  if (ids === undefined) return {};
  if (!Array.isArray(ids) || ids.some((id) => typeof id !== "string")) {
    throw new QavrError("INVALID_ARGUMENT", `${field} must be a list of handles or ids. Received ${typeof ids}.`);
  }
  return { [field]: ids.map(storable) } as { [key in Field]?: string[] };
}
