import type { DocumentInterface } from "@langchain/core/documents";
import { assertName } from "@qavr/core";
import { assertKnownFields, type FieldsOf, refuseOption } from "@qavr/core/adapter";
import type { DocumentIdOptions } from "../document-ids.js";
import type { ScopeOption } from "../runs/run-scope.js";
import { SCORE_KINDS, type ScoreKind } from "./similarities.js";

/** How one retriever, vector store or compressor reads its host and what its evidence belongs to. */
export interface RankingOptions extends DocumentIdOptions {
  /**
   * How many candidates to ask the host for, `k` to 1000. More gives learning more to choose from: 4 × k gives nearly all of
   * the gain, 2 × k loses a fifth of it. Leave it alone unless the host is slow for long lists.
   * @default what the learner asks for, 4 × k and at least 20
   */
  readonly fetchK?: number | undefined;
  /** How the host's scores become similarities. Name the kind when the store's direction cannot be read off its lists. @default "auto" */
  readonly scores?: ScoreKind | undefined;
  /** Which body of memories the ids belong to. Name it when one memory serves several stores. @default "default" */
  readonly collection?: string | undefined;
  /** Name of the embedding space. @default the name of the store's embedding model, where it tells */
  readonly space?: string | undefined;
  /** Scope of learning; overrides the memory's. @default the memory's */
  readonly namespace?: ScopeOption | undefined;
  /** Kind of task; overrides the memory's. @default the memory's */
  readonly context?: ScopeOption | undefined;
  /**
   * Which documents nobody has verified: what an agent has written, or an import. Rewards lift them by little and past no verified one,
   * until verified successes have confirmed them. Name it wherever agents write into the store. @default none
   */
  readonly unverified?: ((document: DocumentInterface) => boolean) | undefined;
  /** True adds the ranking to each document's metadata, under `qavr`. For debugging, and for documents that pass a checkpoint. @default false */
  readonly annotate?: boolean | undefined;
}

const OPTIONS: FieldsOf<RankingOptions> = {
  fetchK: true,
  scores: true,
  collection: true,
  space: true,
  namespace: true,
  context: true,
  unverified: true,
  annotate: true,
  idOf: true,
  idKey: true,
};

/** The widest list that a host is asked for. */
export const MAX_FETCH_K = 1000;

/** How many documents are returned when nobody says. LangChain's own default. */
export const DEFAULT_K = 4;

/** What only some rankings have. */
export interface RankingShape {
  /** The number of documents to return, with its name for messages. @default each search says it */
  readonly size?: { readonly name: string; readonly value: number | undefined };
  /** Options that would do nothing. */
  readonly without?: readonly (keyof RankingOptions)[];
}

/**
 * Refuses what could only fail later, in the middle of a run, and what would do nothing.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function assertRankingOptions(options: RankingOptions, { size, without = [] }: RankingShape = {}): void {
  const { fetchK, scores, collection, space, idOf, idKey } = options;
  const unheard = without.filter((option) => options[option] !== undefined) as readonly string[];
  const known = [...(size ? [size.name] : []), ...Object.keys(OPTIONS).filter((option) => !unheard.includes(option))];
  assertKnownFields(options, "A ranking has no option", Object.fromEntries(known.map((option) => [option, true])));
  const value = size?.value;
  if (size && value !== undefined && (!Number.isInteger(value) || value < 1)) {
    refuse(size.name, value, "must be a whole number of at least 1");
  }
  if (fetchK !== undefined) {
    const least = value ?? 1;
    if (!Number.isInteger(fetchK) || fetchK < least || fetchK > MAX_FETCH_K) {
      refuse(
        "fetchK",
        fetchK,
        `must be a whole number from ${size ? `${size.name} (${least})` : least} to ${MAX_FETCH_K}`,
      );
    }
  }
  if (scores !== undefined && typeof scores !== "function" && !SCORE_KINDS.includes(scores)) {
    refuse("scores", scores, `must be one of ${SCORE_KINDS.join(", ")} or a function`);
  }
  assertStorable("collection", collection);
  assertStorable("space", space);
  assertText("idKey", idKey);
  assertFunction("idOf", idOf);
  assertFunction("unverified", options.unverified);
  assertScope("namespace", options.namespace);
  assertScope("context", options.context);
}

/** @throws INVALID_ARGUMENT, and what {@link assertStorable} throws */
export function assertScope(name: string, value: unknown): void {
  if (typeof value !== "function") assertStorable(name, value);
}

/** Refuses text that no ledger could keep as a name. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
function assertStorable(name: string, value: unknown): void {
  assertText(name, value);
  if (value !== undefined) assertName(value, name);
}

/** @throws INVALID_ARGUMENT */
export function assertText(name: string, value: unknown): void {
  if (value !== undefined && (typeof value !== "string" || value === "")) {
    refuse(name, value, "must be a string that is not empty");
  }
}

/** @throws INVALID_ARGUMENT */
export function assertFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") refuse(name, value, "must be a function");
}

/** @throws INVALID_ARGUMENT always */
export function refuse(name: string, value: unknown, rule: string): never {
  refuseOption(name, `${name} ${rule}`, value);
}
