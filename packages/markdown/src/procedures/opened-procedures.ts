import type { Engine, OutcomeReceipt } from "@qavr/core";
import type { ArchivedCopy } from "./archive.js";
import type { Draft, Transcript } from "./distil.js";
import type { Job } from "./lifecycle.js";
import type { LoadedProcedure, Procedure, ProcedureHit, ProcedureMemory } from "./procedure.js";
import type { ProcedureKind } from "./procedure-file.js";
import type { InRun, ProcedureOutcome, ProcedureQuery } from "./procedure-options.js";
import type { AskModel, ReviewProposal } from "./review.js";
import type { WriteReport } from "./stamp.js";

/** The procedures as a memory searches them. It counts none: the memory counts those that its runs show, when they end. */
export interface ProcedureCollection {
  /** `procedures`: its name in the ledger. */
  readonly name: string;
  /** The best matches, best first, each procedure once. `text` is the body, `metadata` has id, name, description and path. */
  search(query: { readonly text: string; readonly limit?: number | undefined }): Promise<ProcedureMemory[]>;
}

/**
 * Procedures and skills in Markdown files. The files are the truth, and only calls that say so write them. The evidence about a
 * procedure is in the ledger, by id and version. Every call looks for changed files first, and rejects with the codes of the collection
 * (`STORE_…`) in `.qavr/procedures.db`.
 */
export interface Procedures {
  /** Outcomes of a search go to `engine.report(episode, …)`. */
  readonly engine: Engine;
  /** For `memory.retriever()` of `@qavr/langchain` and `qavr.collections` of `@qavr/mastra`. */
  readonly collection: ProcedureCollection;
  /** All, by path, without counting them. */
  list(): Promise<Procedure[]>;
  /** Undefined for an unknown id. Takes the id of a procedure or of a version. @throws INVALID_ARGUMENT for a path */
  get(id: string): Promise<Procedure | undefined>;
  /**
   * The best matches in learned order, as far as they fit into the budget. They count as shown.
   *
   * @throws INVALID_ARGUMENT
   */
  search(query: ProcedureQuery): Promise<{ readonly procedures: readonly ProcedureHit[]; readonly episode: string }>;
  /**
   * Names and descriptions for a listing that is made before the request is known, as much as fits into its characters. They come by
   * expected use: (uses that did not fail + 1) / (times shown + 2), so that procedures that were never listed get their turn. They count as shown.
   *
   * @param options.characters Of names and descriptions together. @default 15,000
   * @throws INVALID_ARGUMENT
   */
  listing(
    options?: { readonly characters?: number | undefined; readonly kind?: ProcedureKind | undefined } & InRun,
  ): Promise<{ readonly procedures: readonly Procedure[]; readonly episode: string }>;
  /**
   * A procedure with its text. It counts as used by the run.
   *
   * @param id Of a procedure, or of one version on trial, for a run that was shown none. The same holds for `report`.
   * @throws INVALID_ARGUMENT also for an unknown id and a path
   */
  load(id: string, run?: InRun): Promise<LoadedProcedure>;
  /**
   * Reports how a procedure served a run. It counts once per run and procedure: the better tier, and the last report
   * of one tier. Without an episode it is a run of its own.
   *
   * @throws INVALID_ARGUMENT also for an unknown id, a path, and a success that is no boolean; NOT_SHOWN for a recorded run that did not see
   * it; UNKNOWN_EPISODE and the other codes of `engine.report`
   */
  report(id: string, outcome: ProcedureOutcome): Promise<OutcomeReceipt>;
  /**
   * Writes counts into files, under `metadata`, and where they are missing a description and the name of a SKILL.md. All other bytes
   * stay. A file that has changed since it was read is skipped.
   *
   * @param ids @default all
   * @throws INVALID_ARGUMENT also for an unknown id and a path; STORE_UNWRITABLE
   */
  stamp(ids?: readonly string[]): Promise<WriteReport>;
  /**
   * Completes files as `stamp` does, without counts, and moves fields of a SKILL.md that its format does not allow under `metadata`. Each
   * file is first copied to `.qavr/archive`. Run again, it changes nothing.
   *
   * @throws INVALID_ARGUMENT; STORE_UNWRITABLE
   */
  migrate(options?: { readonly dryRun?: boolean | undefined }): Promise<WriteReport>;
  /**
   * Puts a revised body on trial: it gets half of the episodes, by a hash of each, until `review` adopts it or takes it back. The file stays
   * as it is until then. Returns the revision's id in the ledger.
   *
   * @throws INVALID_ARGUMENT for an unknown id, a path, a body that is empty, unchanged or begins with front matter, and while another
   * revision is on trial
   */
  revise(id: string, body: string): Promise<string>;
  /**
   * Proposes the steps that follow from the evidence, and carries them out unless it is a dry run. Copies of removed and changed files are kept in `.qavr/archive`. To be
   * run every day or week, and more often while a revision is on trial.
   *
   * @param options.model Writes revisions; without it they are only proposed.
   * @throws INVALID_ARGUMENT; STORE_UNWRITABLE; what the model throws; the codes of `engine.memories`
   * and `engine.history`
   */
  review(options?: {
    readonly dryRun?: boolean | undefined;
    readonly model?: AskModel | undefined;
  }): Promise<ReviewProposal[]>;
  /**
   * Lets a model write down procedures from runs that went well: from their transcripts, else from the notes of their reports. Drafts wait
   * in `.qavr/drafts`; those that are nearly the same as another or as a procedure are left out.
   *
   * @param options.since Unix ms; the runs from then on.
   * @throws INVALID_MODEL_OUTPUT for an answer of another form, and nothing is written then; INVALID_ARGUMENT also for a transcript that
   * is no text; STORE_UNWRITABLE; what model and transcript throw
   */
  distil(options: {
    readonly model: AskModel;
    readonly since: number;
    readonly transcript?: Transcript | undefined;
  }): Promise<Draft[]>;
  /** Makes a draft the file `procedures/<name>.md`. Returns its id. @throws INVALID_ARGUMENT also where that file is there; STORE_UNWRITABLE */
  accept(draft: Draft): Promise<string>;
  /** Copies in the archive, by path. */
  archived(): Promise<ArchivedCopy[]>;
  /** Writes an archived copy back. @throws INVALID_ARGUMENT for one that is not in the archive, and where a file is in its place; STORE_UNWRITABLE */
  restore(copy: string): Promise<void>;
  /** When each job ended last, Unix ms; those that never ran are left out. */
  lastRuns(): Promise<Partial<Record<Job, number>>>;
  /** Closes the collection, and the engine unless it was given. */
  close(): Promise<void>;
}
