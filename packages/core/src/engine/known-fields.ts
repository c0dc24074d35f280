import { QavrError } from "../errors/qavr-error.js";
import type { EngineOptions } from "./types.js";

/** Every field of a type, which the compiler checks. */
export type FieldsOf<Fields> = Readonly<Record<keyof Fields, true>>;

/**
 * Refuses a misspelt field, which would silently do nothing.
 *
 * @param found How the refusal begins, as in `An outcome has no field`.
 * @param known Every field there is.
 * @throws INVALID_ARGUMENT
 */
export function assertKnownFields(given: object, found: string, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(known, field));
  if (unknown === undefined) return;
  throw new QavrError("INVALID_ARGUMENT", `${found} ${unknown}. It has ${Object.keys(known).join(", ")}.`, {
    details: { field: unknown },
  });
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

/** Every option of an engine. */
export const ENGINE_OPTIONS: FieldsOf<EngineOptions> = {
  store: true,
  learner: true,
  enabled: true,
  onEdit: true,
  episodeTtl: true,
  maxOpenEpisodes: true,
  outcomeWindow: true,
  recordedCandidates: true,
  holdout: true,
  trust: true,
  sourceCaps: true,
  readDeadline: true,
  writeDeadline: true,
  spool: true,
  clock: true,
  setTimer: true,
  createId: true,
  logger: true,
};
