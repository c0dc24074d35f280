import type { Engine } from "@qavr/core";
import { QavrError } from "@qavr/core";
import type { WorkUnderWay } from "@qavr/core/adapter";
import type { DocumentIdOptions } from "./document-ids.js";
import type { Log } from "./log-codes.js";
import { MARKS, mark, markOf } from "./marks.js";
import type { ShownDocuments } from "./ranking/shown-documents.js";
import type { ScopeOption } from "./runs/run-scope.js";
import type { RunTree } from "./runs/run-tree.js";
import type { AfterRun } from "./runs/settle-run.js";
import type { Evaluate } from "./runs/verdict.js";

/** What the parts of one memory share. */
export interface Internals {
  /** Tells this memory from others in one process. */
  readonly id: string;
  readonly engine: Engine;
  readonly runs: RunTree;
  readonly shown: ShownDocuments;
  /** Ends of runs that are being judged and recorded, and what follows them; `flush` and `close` wait for it. */
  readonly underWay: WorkUnderWay;
  readonly log: Log;
  /** Says once that a retrieval saw no tracked run. */
  readonly warnUntracked: () => void;
  /** Says once that a wrapped retriever finds no more than is wanted. */
  readonly warnNarrow: () => void;
  /** True makes failures of learning reach the caller. */
  readonly throws: boolean;
  readonly evaluate: Evaluate | undefined;
  readonly namespace: ScopeOption | undefined;
  readonly context: ScopeOption | undefined;
  readonly ids: DocumentIdOptions;
  /** Told of each root run that ended, when its outcome is recorded. Those that reject are logged by themselves. */
  readonly afterRun: Set<AfterRun>;
}

/** Hides the internals on the memory that its applications hold. */
export function attachInternals(memory: object, internals: Internals): void {
  mark(memory, MARKS.internals, internals);
}

/** @throws INVALID_ARGUMENT for anything that `qavr()` did not make. */
export function internalsOf(memory: unknown): Internals {
  const internals = markOf(memory, MARKS.internals);
  if (internals) return internals as Internals;
  throw new QavrError("INVALID_ARGUMENT", "memory must be the object that qavr() returned.", {
    details: { received: memory === null ? "null" : typeof memory },
  });
}
