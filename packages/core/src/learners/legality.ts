import { illegalOption } from "../errors/illegal-option.js";

/** What a field of a state from elsewhere must be. */
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
export const UNIT: FieldRule = between(0, 1);

/** A step that does something. */
export const RATE: FieldRule = [(value) => UNIT[0](value) && value !== 0, "in (0, 1]"];

/** A number above 0: 0 would divide by nothing. */
export const ABOVE_0: FieldRule = [
  (value) => Number.isFinite(value) && (value as number) > 0,
  "a finite number above 0",
];

/** One of a few words. */
export function oneOf(...words: readonly string[]): FieldRule {
  return [(value) => words.includes(value as string), words.map((word) => `"${word}"`).join(" or ")];
}

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

/** The first rule that a state breaks, in words; undefined when it keeps them all. */
export function problemOf(state: unknown, rules: Readonly<Record<string, FieldRule>>): string | undefined {
  if (typeof state !== "object" || state === null) return "it is no object";
  for (const [field, [is, range]] of Object.entries(rules)) {
    if (!is((state as Record<string, unknown>)[field])) return `${field} must be ${range}`;
  }
  return undefined;
}

/**
 * Checks a learner's settings where they enter.
 *
 * @throws INVALID_ARGUMENT for the first that lies outside its range
 */
export function checkSettings<Name extends string>(
  learner: string,
  settings: Readonly<Record<Name, unknown>>,
  rules: Readonly<Record<Name, FieldRule>>,
): void {
  for (const [name, [is, range]] of Object.entries<FieldRule>(rules)) {
    const value = settings[name as Name];
    if (is(value)) continue;
    throw illegalOption(name, `${learner}: ${name} must be ${range}`, value);
  }
}

function signed(value: number): string {
  return value < 0 ? `−${-value}` : `${value}`;
}
