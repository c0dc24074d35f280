import { illegalOption } from "./illegal-option.js";
import { isThenable } from "./is-thenable.js";
import { printed } from "./printed.js";
import { QavrError } from "./qavr-error.js";

/** Every field of a type, which the compiler checks. */
export type FieldsOf<Fields> = Readonly<Record<keyof Fields, true>>;

/**
 * Refuses a misspelt field, which would silently do nothing.
 *
 * @param found How the refusal begins, as in `An outcome has no field`.
 * @param known Every field there is.
 * @throws INVALID_ARGUMENT
 */
export function assertKnownFields(given: object, found: string, known: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(known, field));
  if (unknown === undefined) return;
  throw new QavrError("INVALID_ARGUMENT", `${found} ${unknown}. It has ${Object.keys(known).join(", ")}.`, {
    details: { field: unknown },
  });
}

/**
 * Refuses what is no object, and fields that it does not have.
 *
 * @param what For the refusal of anything else, as in `An outcome`.
 * @param found As for {@link assertKnownFields}.
 * @throws INVALID_ARGUMENT
 */
export function checkFields(
  given: object,
  what: string,
  found: string,
  known: Readonly<Record<string, unknown>>,
): void {
  checkObject(given, what);
  assertKnownFields(given, found, known);
}

/**
 * Refuses options of a call that are no object (a namespace alone would be ignored), and unknown options.
 *
 * @param call As in `engine.report`.
 * @throws INVALID_ARGUMENT
 */
export function checkOptions<Options extends object>(
  options: Options | undefined,
  call: string,
  known: FieldsOf<Options>,
): void {
  if (options !== undefined) checkFields(options, `The options of ${call}`, `${call} has no option`, known);
}

/** @throws INVALID_ARGUMENT unless `value` is an object that may have fields: not a list, a map, or a promise that nobody awaited */
export function checkObject(value: unknown, what: string): void {
  const received = otherKind(value);
  if (received === undefined) return;
  throw new QavrError("INVALID_ARGUMENT", `${what} must be an object. Received ${received}.`, {
    details: { what, received },
  });
}

/** The kind of a value that cannot have a caller's fields, in words; undefined for an object that may. */
function otherKind(value: unknown): string | undefined {
  if (typeof value !== "object") return typeof value;
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (isThenable(value)) return "a promise, which is to be awaited first";
  return Symbol.iterator in value ? printed(value) : undefined;
}

/** @throws INVALID_ARGUMENT unless it is undefined, true or false */
export function checkSwitch(value: unknown, name: string): void {
  if (value === undefined || typeof value === "boolean") return;
  throw illegalOption(name, `${name} must be true or false`, value);
}

/**
 * Refuses a condition that is there but undefined, where doing without it would do more than was meant.
 *
 * @param what What the conditions belong to, as in `forget`.
 * @throws INVALID_ARGUMENT
 */
export function assertConditionsGiven(given: object, what: string, conditions: readonly string[]): void {
  const empty = conditions.find((name) => name in given && (given as Record<string, unknown>)[name] === undefined);
  if (empty === undefined) return;
  throw new QavrError(
    "INVALID_ARGUMENT",
    `${what}: ${empty} is undefined. Give it a value, or leave it out to do without that condition.`,
    { details: { field: empty } },
  );
}
