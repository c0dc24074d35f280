import { getEnvironmentVariable } from "@langchain/core/utils/env";
import { type EngineOptions, QavrError, type Store } from "@qavr/core";
import { assertKnownFields, ENGINE_OPTIONS, type FieldsOf } from "@qavr/core/adapter";
import type { DocumentIdOptions } from "./document-ids.js";
import { assertFunction, assertScope, assertText, refuse } from "./ranking/ranking-options.js";
import type { ScopeOption } from "./runs/run-scope.js";
import type { Evaluate } from "./runs/verdict.js";

/** Environment variable that switches learning off, whatever the code says: `1` or `true`. */
export const DISABLED_VARIABLE = "QAVR_DISABLED";

/** What `qavr()` can be told. Everything has a default. */
export interface MemoryOptions extends Omit<EngineOptions, "store">, DocumentIdOptions {
  /**
   * Where the ledger is kept: a path (SQLite), a `postgres://` URL, or a Store. The store is closed with the memory.
   * @default the environment variable QAVR_STORE, else ".qavr/ledger.db"
   */
  readonly store?: string | Store | undefined;
  /** Scope of learning: runs that may learn from each other share one. @default "default", or `qavr_namespace` in a run's metadata */
  readonly namespace?: ScopeOption | undefined;
  /** Kind of task: what memories do in one counts there in full and elsewhere in part. @default "default", or `qavr_context` in a run's metadata */
  readonly context?: ScopeOption | undefined;
  /** Judges each finished run. Without it an error is a failure and a mere end is weak evidence of success. @default undefined */
  readonly evaluate?: Evaluate | undefined;
  /**
   * What a failure of learning does: `open` logs it and goes on with the host's order, `throw` lets it reach the caller. Leave
   * it alone outside tests.
   * @default "open"
   */
  readonly onError?: "open" | "throw" | undefined;
}

const OPTIONS: FieldsOf<MemoryOptions> = {
  ...ENGINE_OPTIONS,
  namespace: true,
  context: true,
  evaluate: true,
  onError: true,
  idOf: true,
  idKey: true,
};

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertMemoryOptions(options: MemoryOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new QavrError("INVALID_ARGUMENT", "qavr() takes an object of options, or nothing.");
  }
  if (Object.hasOwn(options, "memories")) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      "The option memories belongs to qavr() of @qavr/langchain/agents. Import it from there.",
    );
  }
  assertKnownFields(options, "qavr() has no option", OPTIONS);
  const { namespace, context, evaluate, idOf, idKey, onError, enabled } = options;
  if (enabled !== undefined && typeof enabled !== "boolean") refuse("enabled", enabled, "must be true or false");
  assertScope("namespace", namespace);
  assertScope("context", context);
  assertFunction("evaluate", evaluate);
  assertFunction("idOf", idOf);
  assertText("idKey", idKey);
  if (onError !== undefined && onError !== "open" && onError !== "throw") {
    refuse("onError", onError, 'must be "open" or "throw"');
  }
}

/** The one switch: the option and the environment variable both turn learning off. */
export function isEnabled({ enabled = true }: MemoryOptions): boolean {
  const disabled = getEnvironmentVariable(DISABLED_VARIABLE)?.toLowerCase();
  return enabled && disabled !== "1" && disabled !== "true";
}
