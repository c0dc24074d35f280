import type { DocumentInterface } from "@langchain/core/documents";
import {
  ABOVE_0,
  assertRecency,
  COLLECTION_NAME,
  checkFields,
  type FieldRule,
  type FieldRules,
  FUNCTION,
  fetchSizeFrom,
  NAME,
  type Recency,
  SCOPE,
  type ScopeOption,
  SWITCH,
  TEXT,
  whole,
} from "@qavr/core/adapter";
import type { DocumentIdOptions } from "../document-ids.js";
import type { RunInfo } from "../runs/run-scope.js";
import { SCORE_KINDS, type ScoreKind } from "./similarities.js";

/** How much newer documents are preferred. A document of unknown age gains nothing. */
export interface DocumentRecency extends Recency {
  /** Key of the metadata with the time of creation: a date, its text, or Unix ms. @default "created_at" */
  readonly key?: string | undefined;
}

/** Options of one retriever, vector store or compressor: how it reads its host, and the scope of its evidence. */
export interface RankingOptions extends DocumentIdOptions {
  /**
   * How many candidates to ask the host for, `k` to 1000. More gives learning more to choose from: 20 give most of the gain
   * that 50 give. Leave it alone unless the host is slow for long lists.
   * @default the learner's choice: 50, or 4 × k where that is more
   */
  readonly fetchK?: number | undefined;
  /** From the host's scores to similarities. Name the kind when the direction of the store's scores is ambiguous. @default "auto" */
  readonly scores?: ScoreKind | undefined;
  /** Name of the body of memories that the ids belong to. Needed when one memory serves several stores. @default "default" */
  readonly collection?: string | undefined;
  /** Name of the embedding space. @default the name of the store's embedding model, where it has one */
  readonly space?: string | undefined;
  /** Scope of learning; overrides the memory's. @default the memory's */
  readonly namespace?: ScopeOption<RunInfo> | undefined;
  /** Kind of task; overrides the memory's. @default the memory's */
  readonly context?: ScopeOption<RunInfo> | undefined;
  /**
   * True for documents without verification, such as an agent's notes or an import. Rewards lift them a little, and never past a verified
   * document, until verified successes have confirmed them. Give it wherever agents write into the store. @default none
   */
  readonly unverified?: ((document: DocumentInterface) => boolean) | undefined;
  /**
   * Key of the metadata with each document's group: its tool, intent, file or topic, as text or a number. `grouped` of `@qavr/learners`
   * learns from it. @default no groups
   */
  readonly groupKey?: string | undefined;
  /**
   * Prefers newer documents: adds `weight · 2^(−age / halfLife)` to each similarity (`weight` 0.1 by default) before what was learned.
   * For facts that go out of date; where old ones stay right it lowers success. @default none
   */
  readonly recency?: DocumentRecency | undefined;
  /**
   * Leaves out memories that are not expected to help, as soon as another one of the list is expected to help by this much, in the
   * learner's own unit: logits for the default learner, where 0.3 stands for up to 7 points of success. 0.3 saves about a fifth of the
   * tokens after thousands of runs, and costs a little success where all memories are right. @default nothing is left out
   */
  readonly minWorth?: number | undefined;
  /** True for candidates that a run needs: they are returned also where memory is off (`memoryOff`). @default false */
  readonly required?: boolean | undefined;
  /** True adds the ranking to each document's metadata, under `qavr`. For debugging, and for documents that pass a checkpoint. @default false */
  readonly annotate?: boolean | undefined;
}

const SCORES: FieldRule = [
  (value) => typeof value === "function" || SCORE_KINDS.includes(value as never),
  `one of ${SCORE_KINDS.join(", ")} or a function`,
];

const OPTIONS: FieldRules<RankingOptions> = {
  fetchK: fetchSizeFrom(1),
  scores: SCORES,
  collection: COLLECTION_NAME,
  space: NAME,
  namespace: SCOPE,
  context: SCOPE,
  unverified: FUNCTION,
  groupKey: TEXT,
  recency: true,
  minWorth: ABOVE_0,
  required: SWITCH,
  annotate: SWITCH,
  idOf: FUNCTION,
  idKey: TEXT,
};

/** The options of a retriever, for callers that take further ones: the retriever checks their values itself. */
export const RETRIEVER_FIELDS: Readonly<Record<string, true>> = Object.fromEntries(
  ["k", "filter", ...Object.keys(OPTIONS), "callbacks", "tags", "metadata", "verbose"].map((name) => [name, true]),
);

/** How many documents are returned by default. LangChain's own default. */
export const DEFAULT_K = 4;

/** Differences between the kinds of rankings. */
export interface RankingShape {
  /** The number of documents to return, with its name for messages. @default each search names it */
  readonly size?: { readonly name: string; readonly value: number | undefined };
  /** Names of options that are checked elsewhere. */
  readonly beside?: readonly string[];
  /** Options that would have no effect. */
  readonly without?: readonly (keyof RankingOptions)[];
}

/**
 * Refuses options that could only fail later, in the middle of a run, and options without effect.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function assertRankingOptions(
  options: RankingOptions,
  { size, beside = [], without = [] }: RankingShape = {},
): void {
  const rules = Object.entries<FieldRule | true>({
    ...(size ? { [size.name]: whole(1) } : {}),
    ...Object.fromEntries(beside.map((name) => [name, true])),
    ...OPTIONS,
    ...(size?.value === undefined ? {} : { fetchK: fetchSizeFrom(size.value, `${size.name} (${size.value})`) }),
  });
  const isUndefined = (option: string): boolean =>
    Object.hasOwn(options, option) && options[option as keyof RankingOptions] === undefined;
  // An option without effect may be there when it is undefined.
  const known = rules.filter(([option]) => isUndefined(option) || !without.some((unused) => unused === option));
  const checked = size ? { ...options, [size.name]: size.value } : options;
  checkFields("A ranking", checked, Object.fromEntries(known));
  assertRecency(options.recency, "recency", { key: TEXT });
}
