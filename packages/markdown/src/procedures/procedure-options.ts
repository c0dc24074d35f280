import type { Engine, Logger, OutcomeTier } from "@qavr/core";
import { OUTCOME_TIERS } from "@qavr/core";
import {
  type Defined,
  type FieldRule,
  type FieldRules,
  illegalOption,
  oneOf,
  resolveOptions,
  SWITCH,
  whole,
} from "@qavr/core/store";
import type { LocalMemoriesOptions } from "@qavr/local";
import { isObject, isText } from "../lesson-options.js";
import type { Transcript } from "./distil.js";
import { isPossibleId, type ProcedureKind } from "./procedure-file.js";
import type { AskModel } from "./review.js";
import { type CountTokens, estimateTokens } from "./text-budget.js";

/** Place and ledger of procedures. */
export interface ProceduresOptions {
  /** The engine whose ledger counts outcomes, such as `qavr().engine`. @default one on `.qavr/ledger.db` in the root */
  readonly engine?: Engine | undefined;
  /**
   * Scope of learning. `list()`, `get()`, `stamp()`, `review()` and `distil()` read the events of this one alone, whatever runs name. Only in
   * this one an edited file keeps its evidence.
   *
   * @default "default"
   */
  readonly namespace?: string | undefined;
  /** An embedding model, by which searches look for meaning beside words. @default none */
  readonly embed?: LocalMemoriesOptions["embed"];
  /** Counts tokens for budgets. @default a quarter of the UTF-8 bytes */
  readonly countTokens?: ((text: string) => number) | undefined;
  /** Gets a line when something is wrong with a file or the ledger. @default the first line of a kind is a process warning */
  readonly logger?: Logger | undefined;
}

/** A run, as the engine knows it. */
export interface InRun {
  /** Id or alias of the run's episode. @default a new episode */
  readonly episode?: string | undefined;
  /** Its namespace. @default that of the procedures */
  readonly namespace?: string | undefined;
}

/** A search for procedures. */
export interface ProcedureQuery extends InRun {
  readonly text: string;
  /** The most procedures to return, 1 to 1,000. @default 5 */
  readonly limit?: number | undefined;
  /** The most tokens of their texts together; without it, texts are whole. @default no limit */
  readonly budget?: number | undefined;
  /** Only procedures, or only skills. @default both */
  readonly kind?: ProcedureKind | undefined;
}

/** An outcome of one procedure in one run. */
export interface ProcedureOutcome extends InRun {
  /** Null takes an earlier report back. */
  readonly success: boolean | null;
  /** Why, at most 2,000 characters; kept in the ledger. */
  readonly notes?: string | undefined;
  /** How good the evidence is. @default "self-reported" */
  readonly tier?: OutcomeTier | undefined;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

const NAME: FieldRule = [isText, "a text that is not empty"];

const OPTIONS: FieldRules<ProceduresOptions> = {
  engine: [isObject, "an engine"],
  namespace: NAME,
  embed: true,
  countTokens: [isFunction, "a function"],
  logger: [isObject, "a logger"],
};

const RUN: FieldRules<InRun> = { episode: NAME, namespace: NAME };

const QUERY: FieldRules<ProcedureQuery> = {
  ...RUN,
  text: [(value) => typeof value === "string", "a string"],
  limit: whole(1, 1_000),
  budget: [whole(1)[0], "a whole number of tokens, at least 1"],
  kind: oneOf("procedure", "skill"),
};

const OUTCOME: FieldRules<ProcedureOutcome> = {
  ...RUN,
  success: [
    (value) => typeof value === "boolean" || value === null,
    'true or false, or null to take a report back; texts such as "false" are refused',
  ],
  notes: [(value) => typeof value === "string" && value.length <= 2_000, "a text of at most 2,000 characters"],
  tier: oneOf(...OUTCOME_TIERS),
};

const ID: FieldRule = [isPossibleId, "the id of a procedure, such as procedure:deploy or skill:pdf; a path is none"];

/** @throws INVALID_ARGUMENT */
export function resolveProceduresOptions(given: ProceduresOptions): Pick<
  ProceduresOptions,
  "engine" | "embed" | "logger"
> & {
  readonly namespace: string;
  readonly countTokens: CountTokens;
} {
  const {
    namespace = "default",
    countTokens = estimateTokens,
    ...rest
  } = resolveOptions("openProcedures()", given, {}, OPTIONS);
  const counted: CountTokens = (text) => {
    const tokens: unknown = countTokens(text);
    // A promise or NaN is never within a budget, so that every text would be left out in silence.
    if (typeof tokens === "number" && tokens >= 0) return tokens;
    throw illegalOption("countTokens", "openProcedures(): countTokens must return a number of tokens at once", tokens);
  };
  return { ...rest, namespace, countTokens: counted };
}

/** @throws INVALID_ARGUMENT */
export function resolveProcedureQuery(given: ProcedureQuery): ProcedureQuery & { readonly limit: number } {
  return resolveOptions("search()", given, { limit: 5 }, QUERY, ["text"]);
}

/** @throws INVALID_ARGUMENT */
export function resolveListing(
  given: { readonly characters?: number | undefined; readonly kind?: ProcedureKind | undefined } & InRun,
): { readonly characters: number; readonly kind: ProcedureKind | undefined } & InRun {
  const rules = { ...RUN, characters: whole(1), kind: QUERY.kind };
  const { kind, ...rest } = resolveOptions("listing()", given, { characters: 15_000 }, rules);
  return { ...rest, kind };
}

/** @throws INVALID_ARGUMENT */
export function resolveRun(call: string, given: InRun): InRun {
  return resolveOptions(call, given, {}, RUN);
}

/** @throws INVALID_ARGUMENT */
export function resolveProcedureOutcome(
  given: ProcedureOutcome,
): ProcedureOutcome & Defined<Pick<ProcedureOutcome, "tier">> {
  return resolveOptions("report()", given, { tier: "self-reported" as OutcomeTier }, OUTCOME, ["success"]);
}

/** @throws INVALID_ARGUMENT */
export function resolveDryRun(
  call: string,
  given: { readonly dryRun?: boolean | undefined },
): { readonly dryRun: boolean } {
  return resolveOptions(call, given, { dryRun: false }, { dryRun: SWITCH });
}

/** @throws INVALID_ARGUMENT */
export function resolveReview(given: {
  readonly dryRun?: boolean | undefined;
  readonly model?: AskModel | undefined;
}): {
  readonly dryRun: boolean;
  readonly model: AskModel | undefined;
} {
  const rules = { dryRun: SWITCH, model: [isFunction, "a function"] as FieldRule };
  const { dryRun, model } = resolveOptions("review()", given, { dryRun: false }, rules);
  return { dryRun, model };
}

/** @throws INVALID_ARGUMENT */
export function resolveDistil(given: {
  readonly model: AskModel;
  readonly since: number;
  readonly transcript?: Transcript | undefined;
}): { readonly model: AskModel; readonly since: number; readonly transcript: Transcript | undefined } {
  const { model, since, transcript } = resolveOptions(
    "distil()",
    given,
    {},
    {
      model: [isFunction, "a function"] as FieldRule,
      since: [(value) => Number.isFinite(value), "Unix ms"] as FieldRule,
      transcript: [isFunction, "a function"] as FieldRule,
    },
    ["model", "since"],
  );
  return { model, since, transcript };
}

/** Refuses paths before anything looks for them. @throws INVALID_ARGUMENT */
export function assertId(call: string, id: string): void {
  resolveOptions(call, { id }, {}, { id: ID }, ["id"]);
}
