import type { Metadata, NewMemory, StoredMemory } from "@qavr/local";
import { withLineFeeds } from "../lesson-record.js";
import type { ProcedureFinding, ProcedureKind, ProcedureText, StatedCounts } from "./procedure-file.js";

/** Metadata of a version of a procedure in its collection. */
export interface ProcedureFacts {
  /** Id of the procedure, the same for all versions. */
  readonly procedure: string;
  readonly kind: ProcedureKind;
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly version: string;
  readonly stated: StatedCounts;
  readonly findings: readonly ProcedureFinding[];
  /** The memory whose evidence this one began with. */
  readonly previous?: string;
  /** The memories of this text in its files of before: it was moved. Their counts are its own. */
  readonly moved?: readonly string[];
  /** The memory of the revision that shares its requests. */
  readonly canary?: string;
  /** Of a revision on trial: the memory whose requests it shares. It has no file. */
  readonly canaryOf?: string;
  /** Of a revision on trial: counts when the trial began, of the version in the file and its own, and the centre of the test. */
  readonly trial?: {
    readonly successes: number;
    readonly failures: number;
    readonly ownSuccesses: number;
    readonly ownFailures: number;
    readonly centre: number;
  };
}

/** A version of a procedure in the collection, which mirrors the files. */
export interface ProcedureRecord {
  /** Id in the collection and the ledger: `procedure:deploy@1a2b3c4d5e6f`. Each version has evidence of its own. */
  readonly memory: string;
  readonly body: string;
  readonly facts: ProcedureFacts;
  readonly archived: boolean;
}

export function memoryOf({ id, version }: Pick<ProcedureText, "id" | "version">): string {
  return `${id}@${version}`;
}

/** The memories whose counts are those of a version; its own is the first. */
export function memoriesOf({ memory, facts }: Pick<ProcedureRecord, "memory" | "facts">): readonly string[] {
  return [memory, ...(facts.moved ?? [])];
}

export function toProcedureRecord({ id, text, metadata, archivedAt }: StoredMemory): ProcedureRecord {
  return { memory: id, body: text, facts: metadata as unknown as ProcedureFacts, archived: archivedAt !== undefined };
}

/** The text that is searched and shown. */
export function bodyOf({ body, description }: Pick<ProcedureText, "body" | "description">): string {
  return body.trim() === "" ? description : withLineFeeds(body);
}

/** The memory of a version. Its text is the body, and searches look in name, description and tags, too; the front matter is no part of it. */
export function toMemory(text: Pick<ProcedureText, "body">, facts: ProcedureFacts): NewMemory {
  const { procedure, version, name, description, tags } = facts;
  return {
    id: memoryOf({ id: procedure, version }),
    text: bodyOf({ body: text.body, description }),
    query: [name, description, ...tags].join("\n"),
    metadata: facts as unknown as Metadata,
  };
}
