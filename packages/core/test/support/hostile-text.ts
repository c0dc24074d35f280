import fc from "fast-check";

/** Names that have broken stores, maps or codecs somewhere: prefixes of each other, wildcards, control and invisible characters. */
export const HOSTILE_NAMES: readonly string[] = [
  "a",
  "ab",
  "a:b",
  "%",
  "_",
  "\0",
  "a\0b",
  "\uFEFF",
  "\uFEFFa",
  " a",
  "a ",
  "é",
  "e\u0301",
  "а", // Cyrillic
  "😀",
  "__proto__",
  "constructor",
  "1:a",
  "m1",
  "'; drop table memory; --",
  "x".repeat(200),
];

/** Any legal name: not empty, well-formed. */
export const legalName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_NAMES),
  fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
);
