import { createHash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import {
  createEngine,
  type Engine,
  type EpisodeView,
  type MemoryView,
  type OutcomeReceipt,
  QavrError,
} from "@qavr/core";
import { createLog, toLabel } from "@qavr/core/adapter";
import { illegalOption } from "@qavr/core/store";
import { type LocalHit, localMemories, type StoredMemory, wordsOf } from "@qavr/local";
import { sqliteStore } from "@qavr/sqlite";
import type { MarkdownLogCode } from "../log-codes.js";
import { markdownFiles } from "../markdown-files.js";
import { hasKeyword } from "./keywords.js";
import {
  confidenceOf,
  PROCEDURE_FILES,
  type ProcedureFinding,
  type ProcedureKind,
  type StatedCounts,
} from "./procedure-file.js";
import { type Catalogued, procedureIndex } from "./procedure-index.js";
import {
  assertId,
  type InRun,
  type ProcedureOutcome,
  type ProcedureQuery,
  type ProceduresOptions,
  resolveProcedureOutcome,
  resolveProcedureQuery,
  resolveProceduresOptions,
  resolveRun,
} from "./procedure-options.js";
import { type ProcedureFacts, toProcedureRecord } from "./procedure-record.js";
import { withinBudget } from "./text-budget.js";

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
  /** The body, unchanged. */
  readonly text: string;
  /** The episode that used it; empty where learning is disabled or failed. */
  readonly episode: string;
}

/** A memory of the collection: one version of a procedure. */
export interface ProcedureMemory extends LocalHit {
  readonly matchedBy: MatchTier;
}

/** The procedures as a memory searches them. It counts none: the memory counts those that its runs show, when they end. */
export interface ProcedureCollection {
  /** `procedures`: its name in the ledger. */
  readonly name: string;
  /** The best matches, best first, each procedure once. `text` is the body, `metadata` has id, name, description and path. */
  search(query: { readonly text: string; readonly limit?: number | undefined }): Promise<ProcedureMemory[]>;
}

/**
 * Procedures and skills in Markdown files. The files are the truth, and no call but those that say so writes them. What is known of a
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
  /** A procedure with its text. It counts as used by the run. @throws INVALID_ARGUMENT also for an unknown id and a path */
  load(id: string, run?: InRun): Promise<LoadedProcedure>;
  /**
   * Reports how a procedure served a run. It counts once per run and procedure, whatever else is reported: the better tier, of one tier
   * the last word. Without an episode it is a run of its own.
   *
   * @throws INVALID_ARGUMENT also for an unknown id, a path, and a success that is no boolean; NOT_SHOWN for a recorded run that did not see
   * it; UNKNOWN_EPISODE and the other codes of `engine.report`
   */
  report(id: string, outcome: ProcedureOutcome): Promise<OutcomeReceipt>;
  /** Closes the collection, and the engine unless it was given. */
  close(): Promise<void>;
}

/** Facts of a version that was never shown. */
const UNKNOWN: Omit<MemoryView, "id"> = {
  ...{
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
  },
};

/** Ids that one read of the ledger takes. */
const READ_AT_ONCE = 10_000;

/** A procedure that matches a request, in one of its versions. */
interface Match {
  readonly memory: StoredMemory;
  readonly facts: ProcedureFacts;
  readonly similarity: number;
  readonly matchedBy: MatchTier;
}

/**
 * Opens the procedures and skills below a folder: the folders `procedures`, `skills` and `common_skills`. Several processes may do so
 * at once.
 *
 * @throws INVALID_ARGUMENT; and what `localMemories()` and `sqliteStore()` throw
 * @example
 * const procedures = openProcedures(".");
 * const { procedures: found, episode } = await procedures.search({ text: "deploy fails", budget: 3_000 });
 * await procedures.report("procedure:deploy", { success: true, episode });
 */
export function openProcedures(root: string, options: ProceduresOptions = {}): Procedures {
  const { engine: given, namespace: own, embed, countTokens, logger } = resolveProceduresOptions(options);
  if (typeof root !== "string" || !statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw illegalOption("root", "openProcedures(): root must be a folder that exists", root);
  const log = createLog<MarkdownLogCode>(logger, ["PROCEDURES_NOT_COUNTED", "PROCEDURE_FILE_UNREADABLE"]);
  const collection = localMemories({ path: join(root, ".qavr/procedures.db"), name: "procedures", embed, logger });
  const engine = given ?? createEngine({ store: sqliteStore(join(root, ".qavr/ledger.db")), logger });
  const index = procedureIndex(markdownFiles(root, PROCEDURE_FILES), collection, { engine, namespace: own }, log);

  /** The ledger keeps counts; without it, texts are still found and shown. */
  const counted = async <Result>(work: () => Promise<Result>, otherwise: Result): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      log("warn", "PROCEDURES_NOT_COUNTED", "The ledger failed, so procedures are shown without counting them.", {
        error,
      });
      return otherwise;
    }
  };
  const withCounts = async (versions: readonly Pick<Catalogued, "memory" | "facts">[]): Promise<Procedure[]> => {
    const views = await counted(async () => {
      const read: MemoryView[] = [];
      for (let i = 0; i < versions.length; i += READ_AT_ONCE) {
        const ids = versions.slice(i, i + READ_AT_ONCE).map(({ memory }) => memory);
        read.push(...(await engine.memories({ namespace: own, collection: collection.name, ids })).memories);
      }
      return read;
    }, []);
    return versions.map(({ memory, facts }, i) => toProcedure(memory, facts, views[i] ?? { ...UNKNOWN, id: memory }));
  };
  /** A procedure by its own id or that of a version. @throws INVALID_ARGUMENT */
  const find = async (call: string, id: string): Promise<Catalogued | undefined> => {
    assertId(call, id);
    await index.sync();
    return index.catalogue().get(procedureOf(id));
  };
  const known = async (call: string, id: string): Promise<Catalogued> => {
    const entry = await find(call, id);
    if (entry) return entry;
    const says = `${call}: no procedure has the id ${id}. list() has all of them.`;
    throw new QavrError("INVALID_ARGUMENT", says, { details: { id } });
  };
  /** The version that an episode gets. A revision on trial shares the episodes evenly with the version in the file. */
  const versionFor = async (memory: StoredMemory, episode: string): Promise<StoredMemory> => {
    const { facts } = toProcedureRecord(memory);
    const other = facts.canary ?? facts.canaryOf;
    if (other === undefined) return memory;
    const wantsRevision = isDrawn(episode, facts.procedure);
    return wantsRevision === (facts.canaryOf !== undefined) ? memory : ((await collection.get(other)) ?? memory);
  };

  const matching = async (
    text: string,
    {
      limit,
      kind,
      episode,
    }: { readonly limit: number; readonly kind: ProcedureKind | undefined; readonly episode: string },
  ): Promise<Match[]> => {
    await index.sync();
    const entries = [...index.catalogue().values()].filter(({ facts }) => kind === undefined || facts.kind === kind);
    const trials = entries.filter(({ facts }) => facts.canary !== undefined).length;
    const most = Math.min(1_000, limit + trials);
    const found = new Map<string, { readonly memory: StoredMemory; readonly similarity: number }>();
    for (const hit of await collection.search({ text, limit: most, ...(kind && { filter: { kind } }) })) {
      const { procedure } = toProcedureRecord(hit).facts;
      // Both versions of a trial have the place of the better match, so that the trial compares texts and not searches.
      if (!found.has(procedure)) found.set(procedure, { memory: hit, similarity: hit.similarity });
    }
    const byKeyword = new Set<string>();
    for (const { memory: id, facts, keywords } of entries) {
      if (!hasKeyword(text, keywords)) continue;
      byKeyword.add(facts.procedure);
      if (found.has(facts.procedure)) continue;
      const memory = await collection.get(id);
      if (memory) found.set(facts.procedure, { memory, similarity: 0 });
    }
    const words = new Set(embed === undefined ? [] : wordsOf(text));
    const tierOf = (id: string, memory: StoredMemory): MatchTier => {
      if (byKeyword.has(id)) return "keyword";
      const isByWords =
        embed === undefined || wordsOf(`${memory.query}\n${memory.text}`).some((word) => words.has(word));
      return isByWords ? "words" : "vector";
    };
    const matches = [...found].map(([id, { memory, similarity }]) => {
      const matchedBy = tierOf(id, memory);
      return { memory, matchedBy, similarity: (similarity + (matchedBy === "keyword" ? 1 : 0)) / 2 };
    });
    matches.sort((a, b) => b.similarity - a.similarity);
    return Promise.all(
      matches.slice(0, limit).map(async (match) => {
        const memory = await versionFor(match.memory, episode);
        return { ...match, memory, facts: toProcedureRecord(memory).facts };
      }),
    );
  };
  const candidateOf = ({
    memory: { id, text },
    facts,
    similarity,
  }: Pick<Match, "memory" | "facts" | "similarity">) => ({
    ...{ id, text, similarity, label: toLabel(facts.name) },
  });
  /** The version that an episode has shown; undefined where it showed none. */
  const shownIn = (view: EpisodeView | undefined, procedure: string): string | undefined =>
    view?.exposures
      .filter((exposure) => exposure.collection === collection.name)
      .flatMap(({ items }) => items)
      .find(({ id }) => procedureOf(id) === procedure)?.id;
  /** Shows one procedure to a run that has not seen it, or to a new one. */
  const showAlone = async (
    { memory, facts }: Pick<Match, "memory" | "facts">,
    { episode, namespace }: { readonly episode: string | undefined; readonly namespace: string },
  ): Promise<string> => {
    const candidates = [candidateOf({ memory, facts, similarity: 0 })];
    const request = { namespace, collection: collection.name, candidates, topK: 1, keepOrder: true };
    return (await engine.rank(episode === undefined ? request : { ...request, episode })).episode;
  };
  /** The version that a run gets, and the run's episode, which has shown it. */
  const versionIn = async (
    entry: Catalogued,
    { episode: reference, namespace = own }: InRun,
  ): Promise<{ readonly memory: StoredMemory; readonly episode: string; readonly isNew: boolean }> => {
    const view = reference === undefined ? undefined : await engine.explain(reference, { namespace });
    const shown = shownIn(view, entry.facts.procedure);
    const seen = shown === undefined ? undefined : await collection.get(shown);
    if (seen && view) return { memory: seen, episode: view.episode, isNew: false };
    const episode = view?.episode ?? reference ?? engine.open({ namespace });
    const memory = await versionFor((await collection.get(entry.memory)) as StoredMemory, episode);
    const match = { memory, facts: toProcedureRecord(memory).facts };
    if (reference === undefined || view?.state === "open") {
      return { memory, episode: await showAlone(match, { episode, namespace }), isNew: reference === undefined };
    }
    return { memory, episode, isNew: false };
  };

  return {
    engine,

    collection: {
      name: collection.name,
      async search({ text, limit = 10 }) {
        const found = await matching(text, { limit, kind: undefined, episode: randomUUID() });
        return found.map(({ memory, similarity, matchedBy }) => ({ ...memory, similarity, matchedBy }));
      },
    },

    async list() {
      await index.sync();
      return withCounts([...index.catalogue().values()]);
    },

    async get(id) {
      const entry = await find("get()", id);
      return entry && (await withCounts([entry]))[0];
    },

    async search(query) {
      const { text, limit, budget, kind, episode: given, namespace = own } = resolveProcedureQuery(query);
      const episode = given ?? engine.open({ namespace });
      const found = await matching(text, { limit, kind, episode });
      if (found.length === 0) return { procedures: [], episode: given ?? "" };
      const candidates = found.map(candidateOf);
      const request = { namespace, collection: collection.name, text, candidates, topK: limit, episode };
      const ranking = await engine.rank(request);
      const ranked = ranking.items.map(({ index: place }) => found[place] as Match);
      const texts = ranked.map(({ memory }) => memory.text);
      const fitted = withinBudget(texts, budget ?? Number.POSITIVE_INFINITY, countTokens);
      await counted(async () => {
        if (ranking.episode === "") return;
        const ids = fitted.map(({ index: place }) => ranked[place]?.memory.id as string);
        if (ids.length < ranked.length) engine.narrow(ranking.episode, ranking.exposure, ids);
        if (given === undefined) await engine.end(ranking.episode);
      }, undefined);
      const shown = fitted.map(({ index: place }) => ranked[place] as Match);
      const counts = await withCounts(shown.map(({ memory, facts }) => ({ memory: memory.id, facts })));
      const procedures = fitted.map(({ text: part, tokens, truncated }, i) => {
        const { similarity, matchedBy } = shown[i] as Match;
        return { ...(counts[i] as Procedure), similarity, matchedBy, text: part, tokens, truncated };
      });
      return { procedures, episode: ranking.episode };
    },

    async load(id, run = {}) {
      const { namespace = own, ...rest } = resolveRun("load()", run);
      const entry = await known("load()", id);
      const loaded = await counted(async () => {
        const { memory, episode, isNew } = await versionIn(entry, { ...rest, namespace });
        const use = { reward: null, tier: "completed", used: [{ id: memory.id, by: "skill" }] } as const;
        if (isNew) await engine.end(episode, use, { namespace });
        else await engine.report(episode, use, { namespace });
        return { memory, episode };
      }, undefined);
      const memory = loaded?.memory ?? ((await collection.get(entry.memory)) as StoredMemory);
      const [procedure] = await withCounts([{ memory: memory.id, facts: toProcedureRecord(memory).facts }]);
      return { ...(procedure as Procedure), text: memory.text, episode: loaded?.episode ?? "" };
    },

    async report(id, outcome) {
      const { success, notes: note, tier, namespace = own, episode: reference } = resolveProcedureOutcome(outcome);
      const entry = await known("report()", id);
      const { memory, episode, isNew } = await versionIn(entry, { episode: reference, namespace });
      const named = [memory.id];
      const vote = success === null ? { neutral: named } : success ? { helpful: named } : { harmful: named };
      const used = success === null ? {} : { used: [{ id: memory.id, by: "skill" as const }] };
      const said = { reward: null, tier, note, ...vote, ...used };
      if (!isNew) return engine.report(episode, said, { namespace });
      return (await engine.end(episode, said, { namespace })) as OutcomeReceipt;
    },

    async close() {
      await collection.close();
      if (!given) await engine.close();
    },
  };
}

/** The id of a procedure, by its own or by that of a version. */
function procedureOf(id: string): string {
  return id.replace(/@[0-9a-f]{12}$/, "");
}

/** True for about half of the episodes, independently for each procedure. */
function isDrawn(episode: string, procedure: string): boolean {
  return (createHash("sha256").update(`${episode}\n${procedure}`).digest()[0] as number) < 128;
}

function toProcedure(memory: string, facts: ProcedureFacts, view: MemoryView): Procedure {
  const { procedure: id, kind, name, description, path, tags, version, findings, stated } = facts;
  const { shown, lastShown, used, wins: successes, losses: failures, utility } = view;
  return {
    ...{ id, memory, kind, name, description, path, tags, version, findings, stated },
    ...{ shown, used, successes, failures, confidence: confidenceOf(successes, failures), utility },
    ...(lastShown === undefined ? {} : { lastShown }),
  };
}
