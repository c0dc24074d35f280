import type { DocumentInterface } from "@langchain/core/documents";
import { QavrError, type Store } from "@qavr/core";
import {
  checkFields,
  ENGINE_CHOICES_TABLE,
  ENGINE_SETTINGS_TABLE,
  type EngineChoices,
  type EngineSettings,
  type Evaluate,
  type FieldRules,
  FUNCTION,
  oneOf,
  SCOPE,
  type ScopeOption,
  TEXT,
} from "@qavr/core/adapter";
import type { DocumentIdOptions } from "./document-ids.js";
import type { RunInfo } from "./runs/run-scope.js";
import type { FinishedRun } from "./runs/verdict.js";

/** Options of `qavr()`. Each has a default. */
export interface QavrOptions extends Omit<EngineChoices, "store">, DocumentIdOptions {
  /**
   * Place of the ledger: a path (SQLite), a `postgres://` URL, or a Store. The store is closed with the memory.
   * @default the environment variable QAVR_STORE, else ".qavr/ledger.db"
   */
  readonly store?: string | Store | undefined;
  /**
   * Scope of learning: runs that may learn from each other share one. A string is the default for runs whose metadata names none; a
   * function decides alone.
   * @default "default", or `qavr_namespace` in a run's metadata
   */
  readonly namespace?: ScopeOption<RunInfo> | undefined;
  /**
   * Kind of task: evidence counts fully in its own kind and partly in others.
   * @default "default", or `qavr_context` in a run's metadata
   */
  readonly context?: ScopeOption<RunInfo> | undefined;
  /**
   * A few words by which a person recognises a document in `explain()` and `status()`: one line, cut after 80 characters, kept in the
   * ledger beside the document's id. Return nothing that must not be stored there. @default none
   */
  readonly label?: ((document: DocumentInterface) => string | undefined) | undefined;
  /** Judges each finished run. Without it an error is a failure and a mere end is weak evidence of success. @default undefined */
  readonly evaluate?: Evaluate<FinishedRun> | undefined;
  /**
   * Effect of a failure of learning: `open` logs it and continues in the host's order, `throw` lets it reach the caller. Leave it
   * alone outside tests.
   * @default "open"
   */
  readonly onError?: "open" | "throw" | undefined;
  /** Bounds and timeouts of the engine underneath. Leave them alone unless a limit or a timeout is hit. @default the engine's own */
  readonly engine?: EngineSettings | undefined;
}

const OPTIONS: FieldRules<QavrOptions> = {
  ...ENGINE_CHOICES_TABLE,
  namespace: SCOPE,
  context: SCOPE,
  evaluate: FUNCTION,
  label: FUNCTION,
  onError: oneOf("open", "throw"),
  idOf: FUNCTION,
  idKey: TEXT,
  engine: true,
};

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertQavrOptions(options: QavrOptions): void {
  if (typeof options === "object" && options !== null) {
    if (Object.hasOwn(options, "memories")) {
      misplaced("The option memories belongs to agentMemory() of @qavr/langchain/agents. Import it from there.");
    }
    const setting = Object.keys(options).find((name) => Object.hasOwn(ENGINE_SETTINGS_TABLE, name));
    if (setting !== undefined) {
      misplaced(`The option ${setting} belongs to the engine: qavr({ engine: { ${setting}: … } }).`);
    }
  }
  checkFields("qavr()", options, OPTIONS);
  if (options.engine !== undefined) checkFields("qavr({ engine })", options.engine, ENGINE_SETTINGS_TABLE);
}

function misplaced(message: string): never {
  throw new QavrError("INVALID_ARGUMENT", message);
}
