import { type Defined, definedOnly } from "./defined-only.js";
import { illegalOption } from "./illegal-option.js";
import { checkFields } from "./known-fields.js";

/** A test of a field, and its range in words. */
export type FieldRule = readonly [is: (value: unknown) => boolean, range: string];

export const FINITE: FieldRule = [(value) => Number.isFinite(value), "a finite number"];
export const NOT_NEGATIVE: FieldRule = [
  (value) => Number.isFinite(value) && (value as number) >= 0,
  "a finite number of at least 0",
];

/** A number in [low, high]. */
export function between(low: number, high: number): FieldRule {
  const is = (value: unknown): boolean => typeof value === "number" && value >= low && value <= high;
  return [is, `in [${signed(low)}, ${signed(high)}]`];
}

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

/** Returns the first broken rule in words, undefined when there is none. */
export function problemOf(state: unknown, rules: Readonly<Record<string, FieldRule>>): string | undefined {
  if (typeof state !== "object" || state === null) return "it is no object";
  for (const [field, [is, range]] of Object.entries(rules)) {
    if (!is((state as Record<string, unknown>)[field])) return `${field} must be ${range}`;
  }
  return undefined;
}

/**
 * Checks the settings of a learner or a store where they enter.
 *
 * @param owner for the message, as in `sqliteStore()`
 * @throws INVALID_ARGUMENT for the first that lies outside its range
 */
export function checkSettings<Name extends string>(
  owner: string,
  settings: Readonly<Record<Name, unknown>>,
  rules: Readonly<Record<Name, FieldRule>>,
): void {
  for (const [name, [is, range]] of Object.entries<FieldRule>(rules)) {
    const value = settings[name as Name];
    if (is(value)) continue;
    throw illegalOption(name, `${owner}: ${name} must be ${range}`, value);
  }
}

/**
 * Returns options with their defaults, checked by one rule each.
 *
 * @param call for messages, as in `sqliteStore()`
 * @param rules one per option; an option without a default must accept undefined
 * @throws INVALID_ARGUMENT for an unknown option, or one outside its range
 */
export function resolveOptions<Options extends object, Defaults extends Partial<Options>>(
  call: string,
  given: Options,
  defaults: Defaults,
  rules: Readonly<Record<keyof Options, FieldRule>>,
): Omit<Options, keyof Defaults> & Defined<Pick<Options, keyof Defaults & keyof Options>> {
  checkFields(given, `The options of ${call}`, `${call} has no option`, rules);
  const options = { ...defaults, ...definedOnly(given, rules) };
  checkSettings(call, options as Readonly<Record<keyof Options & string, unknown>>, rules);
  return options as unknown as Omit<Options, keyof Defaults> & Defined<Pick<Options, keyof Defaults & keyof Options>>;
}

function signed(value: number): string {
  return value < 0 ? `−${-value}` : `${value}`;
}
