import { DEFAULT_CONTEXT } from "../embedding/context-direction.js";
import { illegalOption } from "../errors/illegal-option.js";
import { checkFields, checkObject, checkSwitch, type FieldsOf } from "../errors/known-fields.js";
import { printed, quoted } from "../errors/printed.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import { OUTCOME_TIERS, type OutcomeEvent } from "../ledger/events.js";
import { USE_FINDERS, type UsedMemory } from "../ledger/used.js";
import { assertBatch, assertName } from "../store/validate.js";
import type { Candidate, OutcomeInput, RankRequest } from "./types.js";

/** The namespace and collection when the caller names none. */
export const DEFAULT_NAME = "default";

/** The one option of a call that needs to know the namespace alone. */
export const ONLY_NAMESPACE: FieldsOf<{ readonly namespace?: string | undefined }> = { namespace: true };

/** Longest name of a collection, UTF-16 units: it becomes part of a scope's name. */
const MAX_COLLECTION = 256;
/** Longest request vector. */
const MAX_VECTOR = 65_536;
/** Largest magnitude of a similarity or vector value: sums, squares and learned shifts stay finite as float32. */
const MAX_MAGNITUDE = 1e30;
/** Longest idempotency key, UTF-16 units: the ledger adds a prefix of its own. */
const MAX_KEY = 500;
/** Longest label of a memory, UTF-16 units. */
export const MAX_LABEL = 80;
/** Longest note, UTF-16 units. */
export const MAX_NOTE = 2_000;
/** Weight of an outcome of which only the end of the run is known. */
const COMPLETED_WEIGHT = 0.3;

const NO_NAMES: readonly string[] = [];

/** Copies a list of names. @throws INVALID_ARGUMENT unless it is an array, INVALID_ID or LIMIT_EXCEEDED for an invalid name */
export function namesIn(names: unknown, what: string): readonly string[] {
  if (!Array.isArray(names)) {
    throw illegalOption(what, `${what} must be an array of strings`, names);
  }
  if (names.length === 0) return NO_NAMES;
  const copy: unknown[] = [...names];
  for (const name of copy) assertName(name, `name in ${what}`);
  return copy as string[];
}

/** @throws as {@link namesIn}, LIMIT_EXCEEDED */
export function aliasesIn(names: unknown): readonly string[] {
  if (Array.isArray(names)) assertBatch(names.length, "list of aliases");
  return namesIn(names, "aliases");
}

/** Copies a list of used memories. A bare name is known from the application. @throws as {@link namesIn}, INVALID_ARGUMENT for another finder */
function usesIn(used: unknown): readonly UsedMemory[] {
  const names = Array.isArray(used) ? used.map((use) => (isUse(use) ? use.id : use)) : used;
  return namesIn(names, "used").map((id, i) => {
    const use: unknown = (used as readonly unknown[])[i];
    const by = isUse(use) ? use.by : "application";
    if (USE_FINDERS.includes(by)) return { id, by };
    throw illegalOption("used", `The finder of a used memory is one of ${USE_FINDERS.join(", ")}`, by);
  });
}

function isUse(use: unknown): use is UsedMemory {
  return typeof use === "object" && use !== null && "id" in use && "by" in use;
}

/** True for a value with the members of a learner. */
export function isLearner(value: unknown): value is Learner {
  const learner = value as Partial<Learner> | null | undefined;
  return typeof learner?.id === "string" && typeof learner.score === "function";
}

/** A copy of a request with defaults filled in: later changes by the caller are not seen, except in the candidates' own objects. */
export interface CheckedRequest extends RankRequest {
  readonly namespace: string;
  readonly collection: string;
  readonly context: string;
  readonly aliases: readonly string[];
  readonly record: boolean;
  /** The candidates in columns. */
  readonly ids: readonly string[];
  readonly similarities: Float64Array;
  /** Number of each candidate's group; one without a group has a number of its own. Undefined where no candidate has one. */
  readonly groups: Int32Array | undefined;
}

const REQUEST_FIELDS: FieldsOf<RankRequest> = {
  namespace: true,
  collection: true,
  context: true,
  text: true,
  vector: true,
  space: true,
  candidates: true,
  topK: true,
  episode: true,
  aliases: true,
  record: true,
  returned: true,
  keepOrder: true,
  required: true,
};

/** Validates everything about a request that does not depend on state, and takes its candidates apart on the way. */
export function checkRequest(request: RankRequest): CheckedRequest {
  checkFields(request, "A request", "A request has no field", REQUEST_FIELDS);
  const { topK, vector, text, space, aliases = NO_NAMES, returned, keepOrder, required, record = true } = request;
  const { namespace = DEFAULT_NAME, collection = DEFAULT_NAME, context = DEFAULT_CONTEXT } = request;
  assertName(namespace, "namespace");
  checkCollection(collection);
  assertName(context, "context");
  if (space !== undefined) assertName(space, "space");
  checkCount(topK, "topK");
  if (returned !== undefined) checkCount(returned, "returned");
  checkSwitch(record, "record");
  checkSwitch(keepOrder, "keepOrder");
  checkSwitch(required, "required");
  if (text !== undefined && typeof text !== "string") {
    throw illegalOption("text", "A request's text must be a string", text);
  }
  if (!Array.isArray(request.candidates)) {
    throw illegalOption(
      "candidates",
      "candidates must be an array of { id, similarity }, best first",
      request.candidates,
    );
  }
  if (vector !== undefined) checkVector(vector);
  const candidates: readonly Candidate[] = request.candidates.slice();
  const ids: string[] = [];
  const similarities = new Float64Array(candidates.length);
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index] as Candidate;
    if (typeof candidate !== "object" || candidate === null) checkObject(candidate, `Candidate ${index}`);
    const { id, similarity } = candidate;
    assertName(id, "memory id");
    if (!isMeasurable(similarity)) throw invalidSimilarity(index, id, similarity);
    ids.push(id);
    similarities[index] = similarity;
  }
  return {
    ...request,
    namespace,
    collection,
    context,
    candidates,
    aliases: aliasesIn(aliases),
    record,
    ids,
    similarities,
    groups: groupsIn(candidates),
  };
}

/** Groups in the order of their first candidates. @throws INVALID_ID or LIMIT_EXCEEDED for an illegal name */
function groupsIn(candidates: readonly Candidate[]): Int32Array | undefined {
  if (candidates.every(({ group }) => group === undefined)) return undefined;
  const known: unknown[] = [];
  return Int32Array.from(candidates, (candidate) => {
    const { group = candidate } = candidate;
    if (group !== candidate) assertName(group, "group");
    const place = known.indexOf(group);
    return place < 0 ? known.push(group) - 1 : place;
  });
}

/**
 * A candidate's text, if it has one. Checked where it is used, since a request has many candidates and uses few texts.
 *
 * @throws INVALID_ARGUMENT for a value that is no string
 */
export function textOf({ id, text }: Candidate): string | undefined {
  if (typeof text === "string") return text;
  if (text === undefined || text === null) return undefined;
  throw illegalOption("text", `The text of candidate ${id} must be a string, or be left out`, text);
}

/**
 * A candidate's label, empty for none. Checked where it is used, as its text is.
 *
 * @throws INVALID_ARGUMENT
 */
export function labelOf({ id, label = "" }: Candidate): string {
  if (typeof label === "string" && label.length <= MAX_LABEL && label.isWellFormed()) return label;
  throw illegalOption(
    "label",
    `The label of candidate ${id} must be well-formed text of at most ${MAX_LABEL} characters`,
    label,
  );
}

/** @throws INVALID_ARGUMENT */
export function checkCount(value: number, name: string): void {
  if (Number.isInteger(value) && value >= 0) return;
  throw illegalOption(name, `${name} must be a whole number of at least 0`, value);
}

function isMeasurable(value: number | undefined): boolean {
  return typeof value === "number" && Math.abs(value) <= MAX_MAGNITUDE;
}

function invalidSimilarity(index: number, id: string, similarity: number): QavrError {
  return new QavrError(
    "INVALID_SIMILARITY",
    `The similarity of candidate ${index} (${id}) is ${quoted(similarity)}. Give finite numbers, higher is better.`,
    { details: { index, id, similarity: printed(similarity) } },
  );
}

export function checkCollection(collection: string): void {
  assertName(collection, "collection", MAX_COLLECTION);
}

function checkVector(vector: ArrayLike<number>): void {
  const length = (vector as ArrayLike<number> | null)?.length;
  if (!(length !== undefined && length >= 1 && length <= MAX_VECTOR)) {
    throw invalidVector(`A request vector has between 1 and ${MAX_VECTOR} values`, length, { length: printed(length) });
  }
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i];
    if (isMeasurable(value)) continue;
    throw invalidVector(`A request vector has finite numbers, also at ${i}`, value, {
      index: i,
      value: printed(value),
    });
  }
}

function invalidVector(rule: string, received: unknown, details: QavrError["details"]): QavrError {
  return new QavrError("INVALID_VECTOR", `${rule}. Received ${quoted(received)}.`, { details });
}

/** An outcome whose numbers are checked and whose defaults are filled in. Its ids are not resolved yet. */
export interface CheckedOutcome extends Omit<OutcomeEvent, "type" | "episode" | "rules"> {
  readonly idempotencyKey: string | undefined;
}

const OUTCOME_FIELDS: FieldsOf<OutcomeInput> = {
  reward: true,
  weight: true,
  tier: true,
  source: true,
  helpful: true,
  harmful: true,
  neutral: true,
  used: true,
  note: true,
  idempotencyKey: true,
};

/** @throws INVALID_REWARD, INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function checkOutcome(outcome: OutcomeInput): CheckedOutcome {
  checkFields(outcome, "An outcome, such as { reward: true },", "An outcome has no field", OUTCOME_FIELDS);
  const {
    tier = "user",
    helpful = NO_NAMES,
    harmful = NO_NAMES,
    neutral = NO_NAMES,
    used,
    note = "",
    idempotencyKey,
  } = outcome;
  if (!OUTCOME_TIERS.includes(tier)) {
    throw illegalOption("tier", `An outcome's tier is one of ${OUTCOME_TIERS.join(", ")}`, tier);
  }
  const reward = typeof outcome.reward === "boolean" ? Number(outcome.reward) : (outcome.reward ?? null);
  if (reward !== null && !(typeof reward === "number" && reward >= 0 && reward <= 1)) {
    throw new QavrError("INVALID_REWARD", `A reward lies in [0, 1]; null means unknown. Received ${quoted(reward)}.`, {
      details: { reward: printed(reward) },
    });
  }
  const weight = outcome.weight ?? (tier === "completed" ? COMPLETED_WEIGHT : 1);
  if (!(typeof weight === "number" && weight > 0 && weight <= 1)) {
    throw new QavrError("INVALID_REWARD", `An outcome's weight lies in (0, 1]. Received ${quoted(weight)}.`, {
      details: { weight: printed(weight) },
    });
  }
  const source = outcome.source ?? tier;
  assertName(source, "source");
  // Copies: the caller may change its lists before the outcome is recorded.
  const named = {
    helpful: namesIn(helpful, "helpful"),
    harmful: namesIn(harmful, "harmful"),
    neutral: namesIn(neutral, "neutral"),
    used: used === undefined ? undefined : usesIn(used),
  };
  if (idempotencyKey !== undefined) assertName(idempotencyKey, "idempotency key", MAX_KEY);
  if (typeof note !== "string" || note.length > MAX_NOTE || !note.isWellFormed()) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `A note is well-formed text of at most ${MAX_NOTE} characters. Received ${typeof note === "string" ? note.length : typeof note}.`,
    );
  }
  // Without the sign of zero: equal outcomes give equal bytes.
  return { reward: reward === null ? null : reward + 0, weight, tier, source, ...named, note, idempotencyKey };
}
