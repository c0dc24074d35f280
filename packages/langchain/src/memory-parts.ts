import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { type Engine, QavrError } from "@qavr/core";
import { checkObject, definedOnly, type Evaluate, type RunKit, type ScopeOptions } from "@qavr/core/adapter";
import type { DocumentIdOptions } from "./document-ids.js";
import type { OwnLogCode } from "./log-codes.js";
import { MARKS, mark, markOf } from "./marks.js";
import type { QavrOptions } from "./qavr-options.js";
import type { ShownDocuments } from "./ranking/shown-documents.js";
import type { PromptRuns } from "./runs/prompt-runs.js";
import { DEFAULT_NAMESPACE, type RunInfo } from "./runs/run-scope.js";
import type { RunTree } from "./runs/run-tree.js";
import type { AfterRun, FinishedRun } from "./runs/verdict.js";

/** A memory as the classes around it take it: the object that `qavr()` returned. */
export interface MemoryHandle {
  readonly engine: Engine;
  readonly handler: BaseCallbackHandler;
}

/** The parts of one memory. A function takes the few that it uses. */
export interface MemoryParts {
  /** Engine, log and what failures of learning mean. */
  readonly kit: RunKit<OwnLogCode>;
  /** The runs under way, each root with its session. */
  readonly runs: RunTree;
  /** The prompts under way, for the selectors of examples inside them. */
  readonly prompts: PromptRuns;
  /** The documents that retrievals returned. */
  readonly shown: ShownDocuments;
  /** The memory's own scope of learning. */
  readonly scope: ScopeOptions<RunInfo>;
  readonly ids: DocumentIdOptions;
  readonly label: QavrOptions["label"];
  readonly evaluate: Evaluate<FinishedRun> | undefined;
  /** Called with each root run that ended, after its outcome is recorded. */
  readonly afterRun: Set<AfterRun>;
  /** Warns once of a retrieval outside any tracked run. */
  readonly warnUntracked: () => void;
}

/** Hides the parts on the memory that applications hold. */
export function attachParts(memory: object, parts: MemoryParts): void {
  mark(memory, MARKS.parts, parts);
}

/** @throws INVALID_ARGUMENT for any object that `qavr()` did not make. */
export function partsOf(memory: unknown): MemoryParts {
  const parts = markOf(memory, MARKS.parts);
  if (parts) return parts as MemoryParts;
  throw new QavrError("INVALID_ARGUMENT", "memory must be the object that qavr() returned.", {
    details: { received: memory === null ? "null" : typeof memory },
  });
}

/**
 * Checks the fields of a constructor.
 *
 * @param needed The name and description of a field that must be there.
 * @throws INVALID_ARGUMENT
 */
export function assertFields(owner: string, fields: object, needed?: readonly [name: string, what: string]): void {
  checkObject(fields, owner);
  if (!needed) return;
  const [name, what] = needed;
  if ((fields as Readonly<Record<string, unknown>>)[name] !== undefined) return;
  const given = Object.keys(definedOnly(fields)).join(", ") || "nothing";
  throw new QavrError("INVALID_ARGUMENT", `${owner} needs ${name}, ${what}. Received ${given}.`, {
    details: { option: name },
  });
}

/** The memory's own namespace where it is a fixed one. */
export function ownNamespace({ scope: { namespace } }: Pick<MemoryParts, "scope">): string {
  return typeof namespace === "string" ? namespace : DEFAULT_NAMESPACE;
}
