import type { OutcomeInput } from "../engine/types.js";
import { checkFields, definedOnly, type FieldRules, SWITCH } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { STORE_LIMITS } from "../store/store.js";
import { sha256 } from "./sha256.js";

/**
 * How a run went, in an application's words. Every field is optional: `{}` is an unknown result.
 * Memories are named by their short handle (`m1`) or by their id.
 */
export type Outcome = Omit<OutcomeInput, "reward"> & (BySuccess | ByReward);

interface BySuccess {
  /** Short for `reward: 1` or `reward: 0`. Give one of the two. */
  readonly success?: boolean | undefined;
  readonly reward?: undefined;
}

interface ByReward extends Pick<OutcomeInput, "reward"> {
  readonly success?: undefined;
}

const FIELDS: FieldRules<Outcome> = {
  success: SWITCH,
  reward: true,
  helpful: true,
  harmful: true,
  neutral: true,
  used: true,
  tier: true,
  source: true,
  weight: true,
  note: true,
  idempotencyKey: true,
};

/**
 * The engine's form of an outcome. The engine checks the values; this function checks only `success`, which the engine does not know.
 *
 * @param storable From a name to the id under which the adapter keeps that memory: see {@link storableId}.
 * @param defaults Used for fields that the outcome leaves out.
 * @throws INVALID_ARGUMENT for what is no object, for an unknown field, and when `success` is no boolean or stands beside a reward
 */
export function toOutcomeInput(
  outcome: Outcome,
  storable: (name: string) => string,
  defaults: OutcomeInput = {},
): OutcomeInput {
  checkFields("An outcome, such as { success: true }", outcome, FIELDS);
  const { success, ...said } = definedOnly(outcome, FIELDS);
  if (success !== undefined && said.reward !== undefined) {
    throw new QavrError("INVALID_ARGUMENT", "An outcome has either success or reward, not both.");
  }
  const input: Record<string, unknown> = { ...defaults, ...said };
  if (success !== undefined) input.reward = success;
  for (const side of ["helpful", "harmful", "neutral", "used"] as const) {
    const names: unknown = input[side];
    if (Array.isArray(names)) input[side] = names.map((name) => storableName(name, storable));
  }
  return input;
}

/** A name, or a used memory with its finder. The engine refuses other values. */
function storableName(name: unknown, storable: (name: string) => string): unknown {
  if (typeof name === "string") return storable(name);
  const { id } = (name ?? {}) as { readonly id?: unknown };
  return typeof id === "string" ? { ...(name as object), id: storable(id) } : name;
}

/**
 * A judge's answer about a finished run: true, false, a reward in [0, 1], a whole outcome with votes, or null or undefined for
 * an unknown result. After a failed run, null and undefined keep the failure as the outcome; `{ reward: null }` replaces it by
 * "unknown".
 */
export type Verdict = boolean | number | Outcome | null | undefined;

/**
 * Judges a finished run. Its verdict is evidence of the tier `verified`. The run waits for it, so report a slow judge's verdict
 * later instead. It is not called for aborted runs.
 */
export type Evaluate<Run> = (run: Run) => Verdict | Promise<Verdict>;

/**
 * A verdict as evidence; undefined for an unknown result.
 *
 * @param storable As for {@link toOutcomeInput}.
 * @param tier Tier of a verdict that names none.
 * @throws INVALID_REWARD for a number outside [0, 1], INVALID_ARGUMENT for a value of another type, and what `toOutcomeInput` throws
 */
export function fromVerdict(
  verdict: Verdict,
  storable: (name: string) => string,
  tier: NonNullable<OutcomeInput["tier"]> = "verified",
): OutcomeInput | undefined {
  if (verdict === null || verdict === undefined) return undefined;
  if (typeof verdict === "boolean") return { reward: verdict, tier };
  if (typeof verdict === "number") {
    if (!(verdict >= 0 && verdict <= 1)) {
      throw new QavrError("INVALID_REWARD", `A verdict that is a number lies in [0, 1]. Received ${verdict}.`);
    }
    return { reward: verdict, tier };
  }
  if (typeof verdict !== "object") {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `A verdict is true, false, a number in [0, 1], an outcome such as { success: true }, or null. Received a ${typeof verdict}.`,
    );
  }
  return toOutcomeInput(verdict, storable, { tier });
}

/** An id as a host has it, as text: its own string, number or object with a text form. Undefined for anything else, and for an empty one. */
export function idIn(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  // Drivers return ids as objects (MongoDB's ObjectId) whose text form is the id.
  const prototype: unknown = typeof value === "object" && value !== null ? Object.getPrototypeOf(value) : null;
  if (prototype !== null && prototype !== Object.prototype) {
    const text = String(value);
    return text === "" || text.startsWith("[object ") ? undefined : text;
  }
  return undefined;
}

/** The id itself, or its SHA-256 when a ledger cannot keep it: too long, or with lone surrogates. */
export function storableId(id: string): string {
  return id.length <= STORE_LIMITS.nameLength && id.isWellFormed() ? id : `id:${sha256(id)}`;
}

/**
 * The id of a memory that has only a text: 80 bits of the text's SHA-256 as 16 characters of base 32. Two of n texts share one with a
 * chance of about n² / 2⁸¹: 4 · 10⁻¹³ for a million, 4 · 10⁻⁷ for a billion.
 */
export function textId(text: string): string {
  const bits = BigInt(`0x${sha256(text).slice(0, 20)}`);
  return `text:${bits.toString(32).padStart(16, "0")}`;
}
