import { COLLECTION, NAME as ENGINE_NAME } from "../engine/check.js";
import { ENGINE_RULES } from "../engine/create-engine.js";
import type { EngineOptions } from "../engine/options.js";
import { ABOVE_0, checkFields, type FieldRule, type FieldRules, TEXT } from "../errors/field-rules.js";
import type { Recency } from "../scoring/recency.js";

/** A name for the ledger. Its test throws INVALID_ID or LIMIT_EXCEEDED for text that a ledger cannot keep. */
export const NAME: FieldRule = text(ENGINE_NAME);

/** A collection's name, which is shorter. Its test throws as that of {@link NAME}. */
export const COLLECTION_NAME: FieldRule = text(COLLECTION);

function text([isKept]: FieldRule): FieldRule {
  return [(value, name) => TEXT[0](value) && isKept(value, name), TEXT[1]];
}

/** A fixed name, or a function of the run. */
export const SCOPE: FieldRule = [
  (value, name) => typeof value === "function" || NAME[0](value, name),
  "a string that is not empty, or a function",
];

/** The widest list that an adapter asks a host for. */
export const MAX_FETCH_K = 1000;

/** A number of candidates. */
export function fetchSizeFrom(least: number, named: string = String(least)): FieldRule {
  return [
    (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= MAX_FETCH_K,
    `a whole number from ${named} to ${MAX_FETCH_K}`,
  ];
}

/** Options of an engine that applications decide; adapters take them beside their own. */
export type EngineChoices = Pick<
  EngineOptions,
  "store" | "enabled" | "learner" | "holdout" | "memoryOff" | "onEdit" | "governance" | "logger"
>;

/** Bounds, timeouts and sources of an engine, which few applications set. An adapter takes them in one object, `engine`. */
export type EngineSettings = Omit<EngineOptions, keyof EngineChoices>;

const { store: _, enabled, learner, holdout, memoryOff, onEdit, governance, logger, ...settings } = ENGINE_RULES;
const choices = { enabled, learner, holdout, memoryOff, onEdit, governance, logger };

/** The adapter resolves `store` itself. */
export const ENGINE_CHOICES_TABLE: FieldRules<EngineChoices> = { store: true, ...choices };

export const ENGINE_SETTINGS_TABLE: FieldRules<EngineSettings> = settings;

export const ENGINE_OPTION_TABLE: FieldRules<EngineOptions> = { ...ENGINE_CHOICES_TABLE, ...settings };

/**
 * Checks a preference for newer memories.
 *
 * @param more Rules for the adapter's own fields.
 * @throws INVALID_ARGUMENT
 */
export function assertRecency(
  recency: Recency | undefined,
  owner: string,
  more: Readonly<Record<string, FieldRule>> = {},
): void {
  if (recency !== undefined) checkFields(owner, recency, { halfLife: ABOVE_0, weight: ABOVE_0, ...more }, ["halfLife"]);
}
