import { type Engine, QavrError, type Store } from "@qavr/core";
import {
  ABOVE_0,
  assertRecency,
  COLLECTION_NAME,
  checkFields,
  ENGINE_CHOICES_TABLE,
  ENGINE_SETTINGS_TABLE,
  type EngineChoices,
  type EngineSettings,
  type Evaluate,
  type FieldRule,
  type FieldRules,
  FUNCTION,
  fetchSizeFrom,
  illegalOption,
  isThenable,
  oneOf,
  type Recency,
  SCOPE,
  type ScopeOption,
  SWITCH,
  TEXT,
} from "@qavr/core/adapter";
import { type FeedbackReward, isScoreRewards, type ScoreRewards } from "./outcomes/score-rewards.js";
import { assertCollections, type CollectionOptions, MESSAGES } from "./recall/collections.js";
import type { RecalledEntry } from "./runs/agent-run.js";
import type { FinishOutcomes, FinishReason } from "./runs/finish-reasons.js";
import type { AgentRunInfo } from "./runs/run-scope.js";

/** A finished run, as the `evaluate` option sees it. */
export interface FinishedAgentRun extends AgentRunInfo {
  /** Undefined where Mastra does not give it. */
  readonly runId: string | undefined;
  readonly finishReason: FinishReason;
  /** The agent's answer, all steps together. */
  readonly text: string;
  /** Number of tool calls that failed inside the run, also when the agent continued. */
  readonly toolErrors: number;
  /** Memories since the run began or was resumed. `memory.explain` also has those from before a suspension. */
  readonly memories: readonly RecalledEntry[];
}

/** A turn whose messages may become candidates of later recalls. */
export interface EndedTurn extends AgentRunInfo {
  readonly finishReason: string | undefined;
}

/** A memory that a recall found, as the `label` option sees it. */
export interface FoundMemory {
  /** The collection of messages (`messages` unless named otherwise), another one's name, or a vector index. */
  readonly collection: string;
  readonly id: string;
  /** Its text, where the vector store keeps it. */
  readonly text: string | undefined;
  /** Its metadata in the vector store; undefined for a memory of a collection. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/** Options of the report tool. */
export interface ReportToolOptions {
  /** @default "report_memory_outcome" */
  readonly name?: string | undefined;
  /** Tells the model when to report. */
  readonly description?: string | undefined;
}

/** Options of the ledger and of the scope of learning. */
export interface EngineFields extends Omit<EngineChoices, "store"> {
  /**
   * Place of the ledger: a path (SQLite), a `postgres://` URL, or a Store.
   * @default the environment variable QAVR_STORE, else ".qavr/ledger.db"
   */
  readonly store?: string | Store | undefined;
  /**
   * Bounds and timeouts of the engine underneath; leave them alone unless a limit or a timeout is hit. Or an engine to share between
   * memories, in place of `store` and all options of an engine. @default a new engine with its own defaults
   */
  readonly engine?: EngineSettings | Engine | undefined;
  /** Scope of learning: runs that may learn from each other share one. @default "default" */
  readonly namespace?: ScopeOption<AgentRunInfo> | undefined;
  /** Kind of task: evidence counts fully in its own kind and partly in others. @default "default" */
  readonly context?: ScopeOption<AgentRunInfo> | undefined;
  /**
   * A few words by which a person recognises a memory in `explain()` and `status()`: one line, cut after 80 characters, kept in the
   * ledger beside the memory's id. Return nothing that must not be stored there. @default none
   */
  readonly label?: ((memory: FoundMemory) => string | undefined) | undefined;
  /**
   * Effect of a failure of learning: `open` logs it and continues in the vector store's order, `throw` lets it reach the caller.
   * Leave it alone outside tests.
   * @default "open"
   */
  readonly onError?: "open" | "throw" | undefined;
}

/** Options of the recall of messages, beside Mastra's own `semanticRecall`. */
export interface SemanticRecallOptions {
  /**
   * Prefers newer messages: adds `weight · 2^(−age / halfLife)` to each similarity (`halfLife` in ms, `weight` 0.1 by default) before
   * what was learned. For facts that go out of date; where old ones stay right it lowers success. @default none
   */
  readonly recency?: Recency | undefined;
  /**
   * Leaves out memories that are not expected to help, as soon as another one of the list is expected to help by this much, in the
   * learner's own unit: logits for the default learner, where 0.3 stands for up to 7 points of success. 0.3 saves about a fifth of the
   * tokens after thousands of runs, and costs a little success where all memories are right. @default nothing is left out
   */
  readonly minWorth?: number | undefined;
  /**
   * Treatment of earlier questions that repeat the request. `drop` leaves one out where it has the same words, or where it is a nearly
   * identical question whose answer was found too; a statement always stays. Where requests repeat and `messageRange` is 0, a
   * question would take the place of a useful memory.
   * @default "keep"
   */
  readonly echoes?: "keep" | "drop" | undefined;
  /**
   * The turns that become candidates of later recalls: those that did not fail, all, or the choice of a function. Every turn is
   * stored and shown in its thread's history. Choose them if recall is for notes, which daily work would crowd out.
   * @default "unfailed"
   */
  readonly rememberTurns?: "unfailed" | "all" | ((turn: EndedTurn) => boolean) | undefined;
  /**
   * The messages' name in the ledger. After a change of embedding model, a new name such as `messages-2` starts to learn in the new
   * model's space; the old name continues with one number per message. Leave it alone otherwise. @default "messages"
   */
  readonly collection?: string | undefined;
  /**
   * How many candidates to ask the vector store for, 1 to 1000. More gives learning more to choose from: 20 give most of the
   * gain that 50 give. Leave it alone unless the store is slow for long lists.
   * @default the learner's choice: 50, or 4 × topK where that is more
   */
  readonly fetchK?: number | undefined;
}

/** Options in the `qavr` field of a {@link QavrMemory}. Each has a default. */
export interface LearningOptions extends EngineFields {
  /** Judges each finished run. Without it the finish reason does. @default undefined */
  readonly evaluate?: Evaluate<FinishedAgentRun> | undefined;
  /** The outcome of each way to end; given rows replace the default's. @default FINISH_OUTCOMES */
  readonly outcomes?: FinishOutcomes | undefined;
  /**
   * Scorers whose live scores count as rewards when they arrive through observability: their ids, or functions from the score to
   * a reward in [0, 1]. Scores of other scorers teach nothing, since only the application knows the meaning of the numbers.
   * @default none
   */
  readonly scores?: ScoreRewards | undefined;
  /**
   * Reads feedback that arrives through observability or over HTTP. Undefined leaves it to the default, null is no evidence.
   * @default thumbs: above 0 good, else bad; other types teach nothing
   */
  readonly feedback?: FeedbackReward | undefined;
  /**
   * The agent's tool for reporting on its own run; false leaves it out, true offers it also to agents without other tools.
   * @default report_memory_outcome, beside other tools
   */
  readonly reportTool?: boolean | ReportToolOptions | undefined;
  /** The recall of messages. @default each option's own */
  readonly semanticRecall?: SemanticRecallOptions | undefined;
  /** Other bodies of memories to recall beside messages. @default none */
  readonly collections?: readonly CollectionOptions[] | undefined;
  /** True for runs that are not to be learned from (plumbing of a network, a judge): they recall in learned order. @default none */
  readonly ignore?: ((run: AgentRunInfo) => boolean) | undefined;
}

/** Adds to a rule that a function must not be async: its promise would be read as a yes. */
function synchronous([is, range]: FieldRule): FieldRule {
  return [
    (value, name = "A function") => {
      if (typeof value === "function" && value.constructor.name === "AsyncFunction") throw promised(name);
      return is(value, name);
    },
    range,
  ];
}

/** The answer of an application's function. @throws INVALID_ARGUMENT for a promise */
export function answered<Answer>(name: string, answer: Answer): Answer {
  if (isThenable(answer)) throw promised(name);
  return answer;
}

function promised(name: string): QavrError {
  return new QavrError(
    "INVALID_ARGUMENT",
    `qavr.${name} must answer at once; it returns a promise. Look up before the run what it needs, and put it into the request context.`,
    { details: { option: name } },
  );
}

const TURNS: FieldRule = [
  (value) => typeof value === "function" || value === "unfailed" || value === "all",
  "one of unfailed, all",
];
const LOGGER: FieldRule = [
  (value) => typeof value === "object" && value !== null,
  "an object with methods such as warn and error",
];
const REPORT_TOOL: FieldRule = [
  (value) => typeof value === "boolean" || (typeof value === "object" && value !== null && !Array.isArray(value)),
  'false, or an object such as { name: "rate_memories" }',
];

const ENGINE_FIELDS: FieldRules<EngineFields> = {
  ...ENGINE_CHOICES_TABLE,
  namespace: synchronous(SCOPE),
  context: synchronous(SCOPE),
  label: synchronous(FUNCTION),
  onError: oneOf("open", "throw"),
  logger: LOGGER,
  engine: true,
};

const OPTIONS: FieldRules<LearningOptions> = {
  evaluate: FUNCTION,
  semanticRecall: true,
  collections: true,
  outcomes: true,
  scores: [isScoreRewards, "a list of scorer ids, or functions by scorer id"],
  feedback: synchronous(FUNCTION),
  reportTool: REPORT_TOOL,
  ignore: synchronous(FUNCTION),
  ...ENGINE_FIELDS,
};

const RECALL_OPTIONS: FieldRules<SemanticRecallOptions> = {
  recency: true,
  minWorth: ABOVE_0,
  echoes: oneOf("keep", "drop"),
  rememberTurns: synchronous(TURNS),
  collection: COLLECTION_NAME,
  fetchK: fetchSizeFrom(1),
};

const REPORT_TOOL_OPTIONS: FieldRules<ReportToolOptions> = {
  name: [
    // The narrowest rule of all model providers.
    (value) => typeof value === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(value),
    "1 to 64 letters, digits, _ and -, as model providers ask",
  ],
  description: [(value) => typeof value === "string" && value.trim() !== "", "a string that is not empty"],
};

/** Options of an engine that have an effect beside a given engine. */
const BESIDE_ENGINE: readonly string[] = ["enabled", "logger"] satisfies (keyof EngineChoices)[];

/** The engine that the options give, undefined where they describe a new one. */
export function givenEngine({ engine }: EngineFields): Engine | undefined {
  return typeof (engine as Partial<Engine> | undefined)?.rank === "function" ? (engine as Engine) : undefined;
}

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertLearningOptions(options: LearningOptions): void {
  refuseMisplaced(options, RECALL_OPTIONS, "semanticRecall");
  refuseMisplaced(options, ENGINE_SETTINGS_TABLE, "engine");
  checkFields("qavr", options, OPTIONS);
  const { engine, semanticRecall, collections, reportTool } = options;
  if (semanticRecall !== undefined) {
    checkFields("qavr.semanticRecall", semanticRecall, RECALL_OPTIONS);
    assertRecency(semanticRecall.recency, "qavr.semanticRecall.recency");
  }
  if (givenEngine(options)) {
    const given: Readonly<Record<string, unknown>> = { ...options };
    const unused = Object.keys(ENGINE_CHOICES_TABLE).find(
      (name) => given[name] !== undefined && !BESIDE_ENGINE.includes(name),
    );
    if (unused !== undefined) {
      throw illegalOption(
        `qavr.${unused}`,
        `qavr.${unused} and engine are alternatives; an engine brings its own`,
        "both",
      );
    }
  } else if (engine !== undefined) {
    checkFields("qavr.engine", engine, ENGINE_SETTINGS_TABLE);
  }
  if (collections !== undefined) assertCollections(collections, semanticRecall?.collection ?? MESSAGES);
  if (typeof reportTool === "object") {
    checkFields("qavr.reportTool", reportTool, REPORT_TOOL_OPTIONS);
  }
}

/** Refuses an option of a group that stands outside it. @throws INVALID_ARGUMENT */
function refuseMisplaced(options: LearningOptions, table: Readonly<Record<string, unknown>>, group: string): void {
  if (typeof options !== "object" || options === null) return;
  const name = Object.keys(options).find((given) => Object.hasOwn(table, given) && !Object.hasOwn(OPTIONS, given));
  if (name === undefined) return;
  throw new QavrError("INVALID_ARGUMENT", `qavr.${name} belongs to a group: qavr: { ${group}: { ${name}: … } }.`, {
    details: { option: name, group },
  });
}

/** Options of a vector store besides those of {@link EngineFields}. */
export interface VectorFields extends Pick<SemanticRecallOptions, "fetchK"> {
  /** Name of the body of memories that the ids belong to. @default the name of the index that is asked */
  readonly collection?: string | undefined;
  /**
   * Key of the metadata with each result's group: its tool, intent, file or topic, as text or a number. `grouped` of `@qavr/learners`
   * learns from it. @default no groups
   */
  readonly groupKey?: string | undefined;
  /** True adds `qavr: { episode, handle }` to each result's metadata, for reports without the results themselves. @default false */
  readonly annotate?: boolean | undefined;
}

const VECTOR_OPTIONS: FieldRules<VectorFields & EngineFields & { readonly memory: unknown }> = {
  ...ENGINE_FIELDS,
  fetchK: RECALL_OPTIONS.fetchK,
  memory: true,
  collection: COLLECTION_NAME,
  groupKey: TEXT,
  annotate: SWITCH,
};

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertVectorOptions(options: object): void {
  checkFields("qavrVector()", options, VECTOR_OPTIONS);
}
