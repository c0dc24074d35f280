import { ENGINE_RULES } from "../engine/create-engine.js";
import type { EngineOptions } from "../engine/options.js";
import { ABOVE_0, SWITCH } from "../errors/field-rules.js";
import { checkObject } from "../errors/known-fields.js";
import { quoted } from "../errors/printed.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Recency } from "../scoring/recency.js";
import { assertName } from "../store/validate.js";

/**
 * A rule for one option: a test, and the end of the sentence `NAME must be …`. A test may throw a better error of its own.
 */
export type OptionRule = readonly [is: (value: unknown, name: string) => boolean, range: string];

/** One rule for each option of an object; true for an option that other code checks. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: OptionRule | true };

/** A string with at least one character. */
export const TEXT: OptionRule = [(value) => typeof value === "string" && value !== "", "a string that is not empty"];

export const FUNCTION: OptionRule = [(value) => typeof value === "function", "a function"];

/** A name for the ledger. Its test throws INVALID_ID or LIMIT_EXCEEDED for text that a ledger cannot keep. */
export const NAME: OptionRule = [
  (value, name) => {
    if (!TEXT[0](value, name)) return false;
    assertName(value, name);
    return true;
  },
  TEXT[1],
];

/** A fixed name, or a function of the run. */
export const SCOPE: OptionRule = [
  (value, name) => typeof value === "function" || NAME[0](value, name),
  "a string that is not empty, or a function",
];

/** The widest list that an adapter asks a host for. */
export const MAX_FETCH_K = 1000;

/** A number of candidates. */
export function fetchSizeFrom(least: number, named: string = String(least)): OptionRule {
  return [
    (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= MAX_FETCH_K,
    `a whole number from ${named} to ${MAX_FETCH_K}`,
  ];
}

/** The options that an adapter passes to the engine, which checks them; the adapter resolves `store` and `enabled` itself. */
export const ENGINE_OPTION_TABLE: OptionTable<EngineOptions> = {
  ...(Object.fromEntries(Object.keys(ENGINE_RULES).map((name) => [name, true])) as OptionTable<EngineOptions>),
  enabled: SWITCH,
};

/** Options of an engine that applications decide; adapters take them beside their own. */
export type EngineChoices = Pick<
  EngineOptions,
  "store" | "enabled" | "learner" | "holdout" | "memoryOff" | "onEdit" | "governance" | "logger"
>;

/** Bounds, timeouts and sources of an engine, which few applications set. An adapter takes them in one object, `engine`. */
export type EngineSettings = Omit<EngineOptions, keyof EngineChoices>;

export const ENGINE_CHOICES_TABLE: OptionTable<EngineChoices> = {
  store: true,
  enabled: SWITCH,
  learner: true,
  holdout: true,
  memoryOff: true,
  onEdit: true,
  governance: true,
  logger: true,
};

export const ENGINE_SETTINGS_TABLE: OptionTable<EngineSettings> = Object.fromEntries(
  Object.entries(ENGINE_OPTION_TABLE).filter(([name]) => !Object.hasOwn(ENGINE_CHOICES_TABLE, name)),
) as OptionTable<EngineSettings>;

/**
 * Checks an object of options against a table: unknown names, then each value that is not undefined.
 *
 * @param owner The function or class in messages, as in `qavr() has no option stroe`.
 * @param prefix Text before an option's name in messages, as in `qavr.fetchK must be …`.
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function assertOptions(
  options: object,
  table: Readonly<Record<string, OptionRule | true>>,
  owner: string,
  prefix: string = "",
): void {
  checkObject(options, `The options of ${owner}`);
  assertKnownOptions(options, owner, table);
  for (const [name, rule] of Object.entries(table)) {
    const value: unknown = (options as Record<string, unknown>)[name];
    if (value === undefined || rule === true) continue;
    const [is, range] = rule;
    if (!is(value, name)) refuseOption(`${prefix}${name}`, value, `must be ${range}`);
  }
}

/**
 * Checks a preference for newer memories.
 *
 * @param more Rules for the adapter's own fields.
 * @throws INVALID_ARGUMENT
 */
export function assertRecency(
  recency: Recency | undefined,
  owner: string,
  more: Readonly<Record<string, OptionRule>> = {},
): void {
  if (recency === undefined) return;
  assertOptions(recency, { halfLife: ABOVE_0, weight: ABOVE_0, ...more }, owner, `${owner}.`);
  if (recency.halfLife === undefined) refuseOption(`${owner}.halfLife`, undefined, "must be given, in ms");
}

/** The most names that a message lists. */
const LISTED = 10;

/** Refuses an unknown option, and names the one that was meant. @throws INVALID_ARGUMENT */
function assertKnownOptions(options: object, owner: string, table: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(table, name));
  if (unknown === undefined) return;
  const names = Object.keys(table);
  const near = names.find((name) => areNear(name.toLowerCase(), unknown.toLowerCase()));
  const others = names.length > LISTED ? ` and ${names.length - LISTED} more` : "";
  const hint = near === undefined ? `It has ${names.slice(0, LISTED).join(", ")}${others}.` : `Did you mean ${near}?`;
  throw new QavrError("INVALID_ARGUMENT", `${owner} has no option ${unknown}. ${hint}`, {
    details: { field: unknown },
  });
}

/**
 * True when at most one edit in three characters leads from one name to the other: Levenshtein's distance, by rows,
 * `d[i][j] = min(d[i−1][j] + 1, d[i][j−1] + 1, d[i−1][j−1] + [a[i] ≠ b[j]])`.
 */
function areNear(a: string, b: string): boolean {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const [left, up, corner] = [next[j - 1], row[j], row[j - 1]] as [number, number, number];
      next.push(Math.min(left + 1, up + 1, corner + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return (row[b.length] as number) <= Math.max(a.length, b.length) / 3;
}

/**
 * Refuses an option or argument of an adapter. The message repeats numbers and strings only: an object may be a client or hold a key.
 *
 * @param rule The end of the sentence, as in `must be a function`.
 * @throws INVALID_ARGUMENT always
 */
export function refuseOption(option: string, value: unknown, rule: string): never {
  const isShown = typeof value === "number" || typeof value === "string" || value === null;
  const received = isShown ? String(value) : typeof value;
  throw new QavrError("INVALID_ARGUMENT", `${option} ${rule}. Received ${isShown ? quoted(value) : received}.`, {
    details: { option, received },
  });
}
