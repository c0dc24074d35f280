import { illegalOption, quoted } from "./illegal-option.js";
import { QavrError } from "./qavr-error.js";

/** A test of a field, and its range in words. The test may throw a better error of its own. */
export type FieldRule = readonly [is: (value: unknown, name?: string) => boolean, range: string];

/** One rule for each field of an object; true for a field that other code checks. */
export type FieldRules<Fields> = { readonly [Name in keyof Required<Fields>]: FieldRule | true };

/** Options with every default filled in. */
export type Defined<Fields> = { readonly [Key in keyof Fields]-?: Exclude<Fields[Key], undefined> };

/** A number in [low, high]. */
export function between(low: number, high: number): FieldRule {
  const is = (value: unknown): boolean => typeof value === "number" && value >= low && value <= high;
  return [is, `in [${signed(low)}, ${signed(high)}]`];
}

/** Largest magnitude of a number from outside: sums, squares and learned shifts stay finite, those of vectors also as float32. */
const MAX_MAGNITUDE = 1e30;

export const FINITE: FieldRule = /* @__PURE__ */ between(-MAX_MAGNITUDE, MAX_MAGNITUDE);
export const NOT_NEGATIVE: FieldRule = /* @__PURE__ */ between(0, MAX_MAGNITUDE);

/** A whole number in [low, high]. */
export function whole(low: number, high: number = Number.POSITIVE_INFINITY): FieldRule {
  const range = high === Number.POSITIVE_INFINITY ? `of at least ${low}` : `in [${low}, ${high}]`;
  return [
    (value) => Number.isInteger(value) && (value as number) >= low && (value as number) <= high,
    `a whole number ${range}`,
  ];
}

/** A share or probability. */
export const UNIT: FieldRule = /* @__PURE__ */ between(0, 1);

/** A step size above 0. */
export const RATE: FieldRule = [(value) => UNIT[0](value) && value !== 0, "in (0, 1]"];

/** A divisor. */
export const ABOVE_0: FieldRule = [
  (value) => Number.isFinite(value) && (value as number) > 0,
  "a finite number above 0",
];

/** One of a few words. */
export function oneOf(...words: readonly string[]): FieldRule {
  return [(value) => words.includes(value as string), words.map((word) => `"${word}"`).join(" or ")];
}

/** A switch. */
export const SWITCH: FieldRule = [(value) => typeof value === "boolean", "true or false"];

/** Unix ms, NaN for never. */
export const TIME: FieldRule = [(value) => Number.isFinite(value) || Number.isNaN(value), "Unix ms, or NaN for never"];

/** A Float32Array of at most `longest` finite values. */
export function finiteVector(longest: number): FieldRule {
  return [
    (value) =>
      value instanceof Float32Array && value.length <= longest && value.every((entry) => Number.isFinite(entry)),
    `a Float32Array of at most ${longest} finite values`,
  ];
}

export const FUNCTION: FieldRule = [(value) => typeof value === "function", "a function"];

/** A string with at least one character. */
export const TEXT: FieldRule = [(value) => typeof value === "string" && value !== "", "a string that is not empty"];

/** Returns the first broken rule in words, undefined when there is none. */
export function problemOf(state: unknown, rules: Readonly<Record<string, FieldRule>>): string | undefined {
  if (typeof state !== "object" || state === null) return "it is no object";
  for (const [field, [is, range]] of Object.entries(rules)) {
    if (!is((state as Record<string, unknown>)[field], field)) return `${field} must be ${range}`;
  }
  return undefined;
}

/**
 * Checks an object where it enters: fields that it does not have, which would silently do nothing, then the values of the others.
 * A field that is undefined counts as absent.
 *
 * @param what The object in messages, as in `createEngine: holdout must be …`: a call or a thing.
 * @param required Fields that must not be absent.
 * @throws INVALID_ARGUMENT, and the errors of the rules
 */
export function checkFields(
  what: string,
  given: object,
  rules: Readonly<Record<string, FieldRule | true>>,
  required: readonly string[] = [],
): void {
  checkObject(given, what, required);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(rules, name));
  if (unknown !== undefined) throw unknownField(what, unknown, Object.keys(rules));
  for (const [name, rule] of Object.entries(rules)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (rule === true || (value === undefined && !required.includes(name)) || rule[0](value, name)) continue;
    throw illegalOption(name, `${what}: ${name} must be ${rule[1]}`, value);
  }
}

/** Returns options with their defaults. @throws as {@link checkFields} */
export function resolveOptions<Options extends object, Defaults extends Partial<Options>>(
  what: string,
  given: Options,
  defaults: Defaults,
  rules: FieldRules<Options>,
  required: readonly (keyof Options & string)[] = [],
): Omit<Options, keyof Defaults> & Defined<Pick<Options, keyof Defaults & keyof Options>> {
  checkFields(what, given, rules, required);
  return { ...defaults, ...definedOnly(given, rules) } as never;
}

/**
 * The fields that are not undefined: one that is there but undefined counts as absent, and must not shadow a default.
 *
 * @param known Every field there is: then those count, too, that an object has from its class or its prototype.
 */
export function definedOnly<Fields extends object>(
  fields: Fields,
  known: Readonly<Record<keyof Fields, unknown>> = fields,
): Partial<Defined<Fields>> {
  const names = Object.keys(known) as (keyof Fields)[];
  const given = names.map((name) => [name, fields[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Partial<Defined<Fields>>;
}

/**
 * @param fields those that it must have, for the message
 * @throws INVALID_ARGUMENT unless `value` is an object that may have fields: not a list, a map, or a promise that was not awaited
 */
export function checkObject(value: unknown, what: string, fields: readonly string[] = []): void {
  const isObject = typeof value === "object" && value !== null;
  const received = isThenable(value) ? "a promise, which is to be awaited first" : quoted(value);
  if (isObject && !isThenable(value) && !(Symbol.iterator in value)) return;
  const needed = fields.length > 0 ? ` with ${fields.join(" and ")}` : "";
  throw new QavrError("INVALID_ARGUMENT", `${what}: an object${needed} is needed. Received ${received}.`, {
    details: { what, received },
  });
}

/** True for a promise, or an object that behaves like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";
}

/**
 * Refuses a condition whose value is undefined: without the condition the call would change more than was meant.
 *
 * @param what The call, as in `forget`.
 * @throws INVALID_ARGUMENT
 */
export function assertConditionsGiven(given: object, what: string, conditions: readonly string[]): void {
  const empty = conditions.find((name) => name in given && (given as Record<string, unknown>)[name] === undefined);
  if (empty === undefined) return;
  throw illegalOption(
    empty,
    `${what}: ${empty} must have a value, or be left out to do without that condition`,
    undefined,
  );
}

function unknownField(what: string, field: string, known: readonly string[]): QavrError {
  // Most slips come later in a word.
  const beginning = (name: string): string => name.slice(0, 3).toLowerCase();
  const near = known.find((name) => beginning(name) === beginning(field));
  const hint = near === undefined ? `It has ${known.join(", ")}.` : `Did you mean ${near}?`;
  return new QavrError("INVALID_ARGUMENT", `${what} has no field ${field}. ${hint}`, { details: { field } });
}

function signed(value: number): string {
  return value < 0 ? `−${-value}` : `${value}`;
}
