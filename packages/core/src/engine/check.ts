import { QavrError } from "../errors/qavr-error.js";
import { OUTCOME_TIERS, type OutcomeTier } from "../ledger/events.js";
import { assertName } from "../store/validate.js";
import type { OutcomeInput, RankRequest } from "./types.js";

/** The namespace, collection and context when the caller names none. */
export const DEFAULT_NAME = "default";

/** Longest name of a collection, UTF-16 units: it becomes part of a scope's name. */
const MAX_COLLECTION = 256;
/** Longest request vector. */
const MAX_VECTOR = 65_536;
/** Weight of an outcome of which only the end of the run is known. */
const COMPLETED_WEIGHT = 0.3;

/** Validates everything about a request that does not depend on state. */
export function checkRequest(request: RankRequest): void {
  const { candidates, topK, vector, aliases } = request;
  assertName(request.namespace ?? DEFAULT_NAME, "namespace");
  checkCollection(request.collection ?? DEFAULT_NAME);
  assertName(request.context ?? DEFAULT_NAME, "context");
  if (request.space !== undefined) assertName(request.space, "space");
  for (const alias of aliases ?? []) assertName(alias, "alias");
  if (!Number.isInteger(topK) || topK < 0) {
    throw new QavrError("INVALID_ARGUMENT", `topK must be a whole number of at least 0. Received ${topK}.`);
  }
  if (!Array.isArray(candidates)) {
    throw new QavrError("INVALID_ARGUMENT", "candidates must be an array of { id, similarity }, best first.");
  }
  candidates.forEach(({ id, similarity }, index) => {
    assertName(id, "memory id");
    if (!Number.isFinite(similarity)) {
      throw new QavrError(
        "INVALID_SIMILARITY",
        `The similarity of candidate ${index} (${id}) is ${similarity}. Give finite numbers, higher is better; rank them by position if the store has none.`,
        { details: { index, id, similarity: String(similarity) } },
      );
    }
  });
  if (vector !== undefined) checkVector(vector);
}

export function checkCollection(collection: string): void {
  assertName(collection, "collection");
  if (collection.length > MAX_COLLECTION) {
    throw new QavrError(
      "LIMIT_EXCEEDED",
      `A collection's name has at most ${MAX_COLLECTION} characters. Received ${collection.length}.`,
    );
  }
}

function checkVector(vector: ArrayLike<number>): void {
  if (!(vector.length >= 1 && vector.length <= MAX_VECTOR)) {
    throw new QavrError(
      "INVALID_VECTOR",
      `A request vector has between 1 and ${MAX_VECTOR} values. Received ${vector.length}.`,
      {
        details: { length: vector.length ?? null },
      },
    );
  }
  for (let i = 0; i < vector.length; i++) {
    if (!Number.isFinite(vector[i])) {
      throw new QavrError(
        "INVALID_VECTOR",
        `Value ${i} of the request vector is ${vector[i]}. Check the embedding model's answer.`,
        {
          details: { index: i, value: String(vector[i]) },
        },
      );
    }
  }
}

/** An outcome whose numbers are checked and whose defaults are filled in. Ids are not resolved yet. */
export interface CheckedOutcome {
  readonly reward: number | null;
  readonly weight: number;
  readonly tier: OutcomeTier;
  readonly source: string;
  readonly helpful: readonly string[];
  readonly harmful: readonly string[];
  readonly used: readonly string[] | undefined;
  readonly idempotencyKey: string | undefined;
}

/** @throws INVALID_REWARD, INVALID_ARGUMENT, INVALID_ID */
export function checkOutcome(outcome: OutcomeInput): CheckedOutcome {
  const { tier = "user", helpful = [], harmful = [], used, idempotencyKey } = outcome;
  if (!OUTCOME_TIERS.includes(tier)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `An outcome's tier is one of ${OUTCOME_TIERS.join(", ")}. Received ${tier}.`,
      {
        details: { tier: String(tier) },
      },
    );
  }
  const reward = typeof outcome.reward === "boolean" ? Number(outcome.reward) : (outcome.reward ?? null);
  if (reward !== null && !(typeof reward === "number" && reward >= 0 && reward <= 1)) {
    throw new QavrError("INVALID_REWARD", `A reward lies in [0, 1]; null means unknown. Received ${reward}.`, {
      details: { reward: String(reward) },
    });
  }
  const weight = outcome.weight ?? (tier === "completed" ? COMPLETED_WEIGHT : 1);
  if (!(typeof weight === "number" && weight > 0 && weight <= 1)) {
    throw new QavrError("INVALID_REWARD", `An outcome's weight lies in (0, 1]. Received ${weight}.`, {
      details: { weight: String(weight) },
    });
  }
  const source = outcome.source ?? tier;
  assertName(source, "source");
  for (const [what, ids] of Object.entries({ helpful, harmful, used: used ?? [] })) {
    if (!Array.isArray(ids)) throw new QavrError("INVALID_ARGUMENT", `${what} must be an array of ids.`);
    for (const id of ids) assertName(id, `id in ${what}`);
  }
  if (idempotencyKey !== undefined) assertName(idempotencyKey, "idempotency key");
  return { reward, weight, tier, source, helpful, harmful, used, idempotencyKey };
}
