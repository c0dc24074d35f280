import { assertName, type Engine, type EngineOptions, QavrError, type Store } from "@qavr/core";
import { assertKnownFields, type FieldsOf, refuseOption, type Verdict } from "@qavr/core/adapter";
import { assertKnownOptions, overruledByEngine } from "./known-options.js";
import type { ReportToolOptions } from "./outcomes/report-outcome-tool.js";
import { type FeedbackReward, isScoreRewards, type ScoreRewards } from "./outcomes/score-rewards.js";
import { assertCollections, type CollectionOptions, MESSAGES } from "./recall/collections.js";
import type { FinishOutcomes, FinishReason } from "./runs/finish-reasons.js";
import type { RecalledMemory } from "./runs/run-episode.js";
import type { RunInfo, ScopeOption } from "./runs/run-scope.js";
import { assertSynchronous } from "./synchronous.js";

/** Environment variable that switches learning off, whatever the code says: `1` or `true`. */
export const DISABLED_VARIABLE = "QAVR_DISABLED";

/** The widest list that a vector store is asked for. */
export const MAX_FETCH_K = 1000;

/** What a tool may be called: the narrowest of what model providers take. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const REPORT_TOOL_FIELDS: FieldsOf<ReportToolOptions> = { name: true, description: true };

/** A finished run, as an {@link Evaluate} function sees it. */
export interface FinishedRun extends RunInfo {
  /** Undefined where Mastra did not tell it. */
  readonly runId: string | undefined;
  readonly finishReason: FinishReason;
  /** What the agent answered, all steps together. */
  readonly text: string;
  /** Tool calls that failed inside the run, also when the agent went on. */
  readonly toolErrors: number;
  /** What was recalled since the run began or was resumed. `memory.explain` also knows what it was shown before its suspension. */
  readonly memories: readonly RecalledMemory[];
}

/**
 * Judges a finished run. Its verdict is evidence of the tier `verified`. The run waits for it, so a slow judge belongs into a
 * scorer or a later `memory.reportOutcome(…)` instead. Not asked about aborted runs.
 */
export type Evaluate = (run: FinishedRun) => Verdict | Promise<Verdict>;

/** Where is learned, and in which scope. */
export interface EngineFields extends Omit<EngineOptions, "store"> {
  /**
   * Where the ledger is kept: a path (SQLite), a `postgres://` URL, or a Store.
   * @default the environment variable QAVR_STORE, else ".qavr/ledger.db"
   */
  readonly store?: string | Store | undefined;
  /** An engine to share between memories; in place of `store` and the engine's own options, which may not stand beside it. @default a new one */
  readonly engine?: Engine | undefined;
  /**
   * How many candidates to ask the vector store for, 1 to 1000. More gives learning more to choose from: 4 × topK gives nearly
   * all of the gain, 2 × topK loses a fifth of it. Leave it alone unless the store is slow for long lists.
   * @default what the learner asks for, 4 × topK and at least 20
   */
  readonly fetchK?: number | undefined;
  /** Scope of learning: runs that may learn from each other share one. @default "default" */
  readonly namespace?: ScopeOption | undefined;
  /** Kind of task: what memories do in one counts there in full and elsewhere in part. @default "default" */
  readonly context?: ScopeOption | undefined;
  /**
   * What a failure of learning does: `open` logs it and goes on with the vector store's order, `throw` lets it reach the caller.
   * Leave it alone outside tests.
   * @default "open"
   */
  readonly onError?: "open" | "throw" | undefined;
}

/** A turn whose messages may become candidates of later recalls. */
export interface EndedTurn extends RunInfo {
  readonly finishReason: string | undefined;
}

/** What the `qavr` field of a {@link QavrMemory} can be told. Everything has a default. */
export interface QavrOptions extends EngineFields {
  /** Judges each finished run. Without it the finish reason does. @default undefined */
  readonly evaluate?: Evaluate | undefined;
  /** What each way to end says about the memories shown; rows that are given replace the default's. @default FINISH_OUTCOMES */
  readonly outcomes?: FinishOutcomes | undefined;
  /**
   * Scorers whose live scores count as rewards when they arrive through observability: their ids, or functions from the score to
   * a reward in [0, 1]. Nothing is learned from a scorer that is not named, since only you know what its numbers mean.
   * @default none
   */
  readonly scores?: ScoreRewards | undefined;
  /** What feedback that arrives through observability or over HTTP says. @default thumbs: above 0 good, else bad; other types say nothing */
  readonly feedback?: FeedbackReward | undefined;
  /** The agent's tool for reporting on its own run; false leaves it out, true keeps it as it is. @default report_memory_outcome */
  readonly reportTool?: boolean | ReportToolOptions | undefined;
  /**
   * What happens to an earlier question of the user that is nearly the same as the current one. `auto` leaves it out where it
   * would come without its answer (`messageRange.after` of 0): it would take the place of a memory and say nothing. `keep` never
   * does, `drop` always.
   * @default "auto"
   */
  readonly echoes?: "auto" | "keep" | "drop" | undefined;
  /**
   * Which turns become candidates of later recalls: those that did not fail, all, or those that a function chooses. Every turn is
   * stored and shown in its thread's history. Choose where notes are what should be recalled and daily work only crowds them out.
   * @default "unfailed"
   */
  readonly rememberTurns?: "unfailed" | "all" | ((turn: EndedTurn) => boolean) | undefined;
  /**
   * What the collection of messages is called in the ledger. After a change of embedding model, another name learns in the new
   * model's space, from the beginning; the old name goes on with one number per message. Leave it alone otherwise. @default "messages"
   */
  readonly messagesCollection?: string | undefined;
  /** Other bodies of memories to recall beside messages. @default none */
  readonly collections?: readonly CollectionOptions[] | undefined;
  /** True for runs that are not to be learned from (plumbing of a network, a judge): they recall as learned and teach nothing. @default none */
  readonly ignore?: ((run: RunInfo) => boolean) | undefined;
}

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertQavrOptions(options: QavrOptions): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new QavrError("INVALID_ARGUMENT", "qavr must be an object of options, or absent.");
  }
  assertKnownOptions(options);
  const { engine, enabled, logger, fetchK, namespace, context, evaluate, ignore, feedback, echoes, onError } = options;
  assertEnabled(enabled);
  if (logger !== undefined && (typeof logger !== "object" || logger === null)) {
    refuse("logger", logger, "must be an object with methods such as warn and error");
  }
  if (engine !== undefined && typeof (engine as Partial<Engine>)?.rank !== "function") {
    refuse("engine", engine, "must be what createEngine() returned");
  }
  const overruled = engine && overruledByEngine({ ...options });
  if (overruled !== undefined) refuse(overruled, "both", "and engine are alternatives; an engine brings its own");
  if (fetchK !== undefined && !(Number.isInteger(fetchK) && fetchK >= 1 && fetchK <= MAX_FETCH_K)) {
    refuse("fetchK", fetchK, `must be a whole number from 1 to ${MAX_FETCH_K}`);
  }
  assertScope("namespace", namespace);
  assertScope("context", context);
  for (const [name, value] of Object.entries({ evaluate, ignore, feedback })) {
    if (value !== undefined && typeof value !== "function") refuse(name, value, "must be a function");
  }
  const { rememberTurns } = options;
  for (const [name, rule] of Object.entries({ namespace, context, ignore, feedback, rememberTurns })) {
    assertSynchronous(name, rule);
  }
  assertOneOf("echoes", echoes, ["auto", "keep", "drop"]);
  assertOneOf("onError", onError, ["open", "throw"]);
  if (typeof rememberTurns !== "function") {
    assertOneOf("rememberTurns", rememberTurns, ["unfailed", "all"]);
  }
  const { messagesCollection = MESSAGES } = options;
  assertName(messagesCollection, "messagesCollection");
  if (options.collections !== undefined) assertCollections(options.collections, messagesCollection);
  const { scores = [], reportTool } = options;
  if (!isScoreRewards(scores)) refuse("scores", scores, "must be a list of scorer ids, or functions by scorer id");
  if (reportTool !== undefined && typeof reportTool !== "boolean") assertReportTool(reportTool);
}

/** @throws INVALID_ARGUMENT */
function assertReportTool(reportTool: unknown): void {
  if (typeof reportTool !== "object" || reportTool === null || Array.isArray(reportTool)) {
    refuse("reportTool", reportTool, 'must be false, or an object such as { name: "rate_memories" }');
  }
  assertKnownFields(reportTool, "qavr.reportTool has no option", REPORT_TOOL_FIELDS);
  const { name, description } = reportTool as ReportToolOptions;
  if (name !== undefined && !(typeof name === "string" && TOOL_NAME.test(name))) {
    refuse("reportTool.name", name, "must have 1 to 64 letters, digits, _ and -, as model providers ask");
  }
  if (description !== undefined && (typeof description !== "string" || description.trim() === "")) {
    refuse("reportTool.description", description, "must be a string that is not empty");
  }
}

/** @throws INVALID_ARGUMENT */
export function assertEnabled(enabled: unknown): void {
  if (enabled !== undefined && typeof enabled !== "boolean") refuse("enabled", enabled, "must be true or false");
}

/** The one switch: the option and the environment variable both turn learning off. */
export function isEnabled({ enabled = true }: Pick<QavrOptions, "enabled">): boolean {
  const disabled = process.env[DISABLED_VARIABLE]?.toLowerCase();
  return enabled && disabled !== "1" && disabled !== "true";
}

/** @throws INVALID_ARGUMENT always */
export function refuse(name: string, value: unknown, rule: string): never {
  refuseOption(name, `qavr.${name} ${rule}`, value);
}

function assertScope(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  if (typeof value !== "string" || value === "")
    refuse(name, value, "must be a string that is not empty, or a function");
  assertName(value, name);
}

function assertOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value as string)) {
    refuse(name, value, `must be one of ${allowed.join(", ")}`);
  }
}
