/** What a field of a state from elsewhere must be. */
export type FieldRule = readonly [is: (value: unknown) => boolean, range: string];

export const FINITE: FieldRule = [(value) => Number.isFinite(value), "a finite number"];
export const NOT_NEGATIVE: FieldRule = [
  (value) => Number.isFinite(value) && (value as number) >= 0,
  "a finite number of at least 0",
];

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
