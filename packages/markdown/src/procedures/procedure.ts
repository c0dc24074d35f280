import type { MemoryView } from "@qavr/core";
import type { LocalHit } from "@qavr/local";
import { confidenceOf, type ProcedureFinding, type ProcedureKind, type StatedCounts } from "./procedure-file.js";
import type { ProcedureFacts } from "./procedure-record.js";

/** A procedure or skill, with its evidence at its present text. */
export interface Procedure {
  /** `procedure:deploy`, `skill:pdf`, `common-skill:pdf`: the folder, and the path below it. It stays through every edit. */
  readonly id: string;
  /** Id of its present version in the collection and the ledger: `procedure:deploy@1a2b3c4d5e6f`. */
  readonly memory: string;
  readonly kind: ProcedureKind;
  readonly name: string;
  /** Of the front matter; without one, the words of the file's name. */
  readonly description: string;
  /** From the root, with `/`. */
  readonly path: string;
  readonly tags: readonly string[];
  /** Hex; changes with description and body. */
  readonly version: string;
  /** Flaws of its file. */
  readonly findings: readonly ProcedureFinding[];
  /** Counts that its file states, in either style. Not evidence. */
  readonly stated: StatedCounts;
  /** Times that this version was shown. */
  readonly shown: number;
  /** Unix ms; absent for a version that was never shown. */
  readonly lastShown?: number;
  /** Runs that loaded it, or are known to have used it otherwise. */
  readonly used: number;
  /** Runs that it served, by the report about it or, where they used it, by their outcome: the better tier counts. */
  readonly successes: number;
  readonly failures: number;
  /** `round(s / (s + f), 2)`; 0.5 without outcomes. */
  readonly confidence: number;
  /** Expected effect of showing it, in the learner's own unit. */
  readonly utility: number;
}

/** How a search found a procedure: by a keyword of it in the request, by other words in common, or by meaning alone. */
export type MatchTier = "keyword" | "words" | "vector";

/** A procedure that a search found. */
export interface ProcedureHit extends Procedure {
  /** In [0, 1]; 0.5 or more with a keyword. */
  readonly similarity: number;
  readonly matchedBy: MatchTier;
  /** Its body, or the part of it that fits. */
  readonly text: string;
  readonly tokens: number;
  /** True when the text ends before one of its headings. */
  readonly truncated: boolean;
}

/** A procedure with its text. */
export interface LoadedProcedure extends Procedure {
  /** The body, with line feeds alone. */
  readonly text: string;
  /** The episode that used it; empty where learning is disabled or failed. */
  readonly episode: string;
}

/** A memory of the collection: one version of a procedure. */
export interface ProcedureMemory extends LocalHit {
  readonly matchedBy: MatchTier;
}

/** Facts of a version that was never shown. */
export const UNKNOWN: Omit<MemoryView, "id"> = {
  shown: 0,
  used: 0,
  successes: 0,
  failures: 0,
  helpful: 0,
  harmful: 0,
  wins: 0,
  losses: 0,
  utility: 0,
  evidence: 0,
};

/** @param views Of its memory, and of those that it was before it was moved. */
export function toProcedure(facts: ProcedureFacts, views: readonly MemoryView[]): Procedure {
  const { procedure: id, kind, name, description, path, tags, version, findings, stated } = facts;
  const { id: memory, utility } = views[0] as MemoryView;
  const sum = (field: "shown" | "used" | "wins" | "losses"): number =>
    views.reduce((all, view) => all + view[field], 0);
  const [successes, failures] = [sum("wins"), sum("losses")];
  const lastShown = Math.max(...views.map((view) => view.lastShown ?? 0));
  return {
    ...{ id, memory, kind, name, description, path, tags, version, findings, stated },
    ...{ shown: sum("shown"), used: sum("used") },
    ...{ successes, failures, confidence: confidenceOf(successes, failures), utility },
    ...(lastShown === 0 ? {} : { lastShown }),
  };
}

/** The id of a procedure, by its own or by that of a version. */
export function procedureOf(id: string): string {
  return id.replace(/@[0-9a-f]{12}$/, "");
}
