import { DEFAULT_CONTEXT } from "../embedding/context-direction.js";
import {
  checkFields,
  checkObject,
  FINITE,
  type FieldRule,
  type FieldRules,
  oneOf,
  RATE,
  SWITCH,
  UNIT,
  whole,
} from "../errors/field-rules.js";
import { illegalOption, printed, quoted } from "../errors/illegal-option.js";
import { type ErrorCode, type ErrorDetails, QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import { OUTCOME_TIERS, type OutcomeEvent } from "../ledger/events.js";
import { USE_FINDERS, type UsedMemory } from "../ledger/used.js";
import { assertBatch, assertName } from "../store/validate.js";
import type { Candidate, OutcomeInput, RankRequest } from "./types.js";

/** The namespace and collection when the caller names none. */
export const DEFAULT_NAME = "default";

/** Longest request vector. */
const MAX_VECTOR = 65_536;
/** Longest label of a memory, UTF-16 units. */
export const MAX_LABEL = 80;
/** Longest note, UTF-16 units. */
export const MAX_NOTE = 2_000;
/** Weight of an outcome of which only the end of the run is known. */
const COMPLETED_WEIGHT = 0.3;

const NO_NAMES: readonly string[] = [];
/** The rule of a similarity and of a vector's value. */
const [isMeasurable] = FINITE;

/** A rule whose test throws its own error. */
function checkedBy(check: (value: unknown, field: string) => void): FieldRule {
  return [
    (value, field = "") => {
      check(value, field);
      return true;
    },
    "",
  ];
}

/** A name that a ledger can keep. */
export const NAME: FieldRule = checkedBy(assertName);
/** Part of the name of a scope, which is why it is shorter. */
export const COLLECTION: FieldRule = checkedBy((value, field) => assertName(value, field, 256));
/** A list of names. */
export const NAMES: FieldRule = checkedBy(namesIn);
export const COUNT: FieldRule = whole(0);
export const LEARNER: FieldRule = [
  (value) => {
    const learner = value as Partial<Learner> | null;
    return typeof learner?.id === "string" && typeof learner.score === "function";
  },
  "a Learner, such as oar() or qValue()",
];

const ONLY_NAMESPACE: FieldRules<{ readonly namespace?: string | undefined }> = { namespace: NAME };

/** The namespace that the options of a call name, where there are no others. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function namespaceIn(call: string, options: { readonly namespace?: string | undefined } = {}): string {
  checkFields(call, options, ONLY_NAMESPACE);
  return options.namespace ?? DEFAULT_NAME;
}

/** Copies a list of names. @throws INVALID_ARGUMENT unless it is an array, INVALID_ID or LIMIT_EXCEEDED for an invalid name */
export function namesIn(names: unknown, what: string): readonly string[] {
  if (!Array.isArray(names)) throw illegalOption(what, `${what} must be an array of strings`, names);
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
  const uses = (Array.isArray(used) ? used : []).map((use) => (isUse(use) ? use : { id: use, by: "application" }));
  const names = Array.isArray(used) ? uses.map(({ id }) => id) : used;
  return namesIn(names, "used").map((id, i) => {
    const { by } = uses[i] as UsedMemory;
    if (USE_FINDERS.includes(by)) return { id, by };
    throw illegalOption("used", `The finder of a used memory is one of ${USE_FINDERS.join(", ")}`, by);
  });
}

function isUse(use: unknown): use is UsedMemory {
  return typeof use === "object" && use !== null && "id" in use && "by" in use;
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

const REQUEST: FieldRules<RankRequest> = {
  namespace: NAME,
  collection: COLLECTION,
  context: NAME,
  text: [(value) => typeof value === "string", "a string"],
  vector: checkedBy(checkVector),
  space: NAME,
  candidates: [Array.isArray, "an array of { id, similarity }, best first"],
  topK: COUNT,
  episode: true,
  aliases: true,
  record: SWITCH,
  returned: COUNT,
  keepOrder: SWITCH,
  required: SWITCH,
};

/** Validates everything about a request that does not depend on state, and takes its candidates apart on the way. */
export function checkRequest(request: RankRequest): CheckedRequest {
  checkFields("rank", request, REQUEST, ["candidates", "topK"]);
  const candidates: readonly Candidate[] = request.candidates.slice();
  const ids: string[] = [];
  const similarities = new Float64Array(candidates.length);
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index] as Candidate;
    if (typeof candidate !== "object" || candidate === null) checkObject(candidate, `Candidate ${index}`);
    const { id, similarity } = candidate;
    assertName(id, "memory id");
    if (!isMeasurable(similarity)) {
      const rule = `The similarity of candidate ${index} (${id}) must be finite; higher is better`;
      throw invalid("INVALID_SIMILARITY", rule, similarity, { index, id });
    }
    ids.push(id);
    similarities[index] = similarity;
  }
  const { namespace = DEFAULT_NAME, collection = DEFAULT_NAME, context = DEFAULT_CONTEXT } = request;
  return {
    ...request,
    namespace,
    collection,
    context,
    candidates,
    aliases: aliasesIn(request.aliases ?? NO_NAMES),
    record: request.record ?? true,
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

function checkVector(vector: unknown): void {
  const values = (vector ?? []) as ArrayLike<number>;
  if (!(values.length >= 1 && values.length <= MAX_VECTOR)) {
    throw invalid("INVALID_VECTOR", `A request vector has between 1 and ${MAX_VECTOR} values`, values.length);
  }
  for (let i = 0; i < values.length; i++) {
    if (!isMeasurable(values[i])) throw invalid("INVALID_VECTOR", `Value ${i} of a vector must be finite`, values[i]);
  }
}

function invalid(code: ErrorCode, rule: string, received: unknown, details?: ErrorDetails): QavrError {
  return new QavrError(code, `${rule}. Received ${quoted(received)}.`, {
    details: { ...details, received: printed(received) },
  });
}

/** An outcome whose numbers are checked and whose defaults are filled in. Its ids are not resolved yet. */
export interface CheckedOutcome extends Omit<OutcomeEvent, "type" | "episode" | "rules"> {
  readonly idempotencyKey: string | undefined;
}

const OUTCOME: FieldRules<OutcomeInput> = {
  reward: checkedBy((reward) => {
    if (reward === null || typeof reward === "boolean" || UNIT[0](reward)) return;
    throw invalid("INVALID_REWARD", "A reward lies in [0, 1]; null means unknown", reward);
  }),
  weight: checkedBy((weight) => {
    if (!RATE[0](weight)) throw invalid("INVALID_REWARD", "An outcome's weight lies in (0, 1]", weight);
  }),
  tier: oneOf(...OUTCOME_TIERS),
  source: NAME,
  helpful: true,
  harmful: true,
  neutral: true,
  used: true,
  note: checkedBy((note) => {
    if (typeof note === "string" && note.length <= MAX_NOTE && note.isWellFormed()) return;
    // Never the note itself: it may be a user's words.
    const received = typeof note === "string" ? note.length : note;
    throw illegalOption("note", `A note is well-formed text of at most ${MAX_NOTE} characters`, received);
  }),
  // The ledger adds a prefix of its own.
  idempotencyKey: checkedBy((key, field) => assertName(key, field, 500)),
};

/** @throws INVALID_REWARD, INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function checkOutcome(outcome: OutcomeInput): CheckedOutcome {
  checkFields("An outcome, such as { reward: true }", outcome, OUTCOME);
  const { reward = null, tier = "user", weight = tier === "completed" ? COMPLETED_WEIGHT : 1, source = tier } = outcome;
  const { helpful = NO_NAMES, harmful = NO_NAMES, neutral = NO_NAMES, used, note = "", idempotencyKey } = outcome;
  return {
    // Without the sign of zero: equal outcomes give equal bytes.
    reward: reward === null ? null : Number(reward) + 0,
    weight,
    tier,
    source,
    // Copies: the caller may change its lists before the outcome is recorded.
    helpful: namesIn(helpful, "helpful"),
    harmful: namesIn(harmful, "harmful"),
    neutral: namesIn(neutral, "neutral"),
    used: used === undefined ? undefined : usesIn(used),
    note,
    idempotencyKey,
  };
}
