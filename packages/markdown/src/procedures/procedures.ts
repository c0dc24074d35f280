import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createEngine, type EpisodeView, type OutcomeReceipt, QavrError, type Ranking } from "@qavr/core";
import { createLog, toLabel, withinBudget } from "@qavr/core/adapter";
import { illegalOption } from "@qavr/core/store";
import { localMemories, type StoredMemory } from "@qavr/local";
import { sqliteStore } from "@qavr/sqlite";
import type { MarkdownLogCode } from "../log-codes.js";
import { markdownFiles } from "../markdown-files.js";
import { MIRRORED, viewsOf } from "../mirrored-collection.js";
import { rootAt } from "../own-folders.js";
import { archiveIn } from "./archive.js";
import { accept, distil } from "./distil.js";
import { lastRuns, noteJob } from "./lifecycle.js";
import { type Match, procedureMatcher } from "./matching.js";
import type { Procedures } from "./opened-procedures.js";
import { type Procedure, procedureOf, toProcedure, UNKNOWN } from "./procedure.js";
import { PROCEDURE_FILES } from "./procedure-file.js";
import { type Catalogued, procedureIndex } from "./procedure-index.js";
import {
  assertId,
  type InRun,
  type ProceduresOptions,
  resolveDistil,
  resolveDryRun,
  resolveListing,
  resolveProcedureOutcome,
  resolveProcedureQuery,
  resolveProceduresOptions,
  resolveReview,
  resolveRun,
} from "./procedure-options.js";
import { memoriesOf, toProcedureRecord } from "./procedure-record.js";
import { fileReplacer } from "./replace-file.js";
import { beginTrial, review } from "./review.js";
import { migrated, stamped, writeEach } from "./stamp.js";
import { fittedTexts } from "./text-budget.js";

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
  const folder = rootAt("openProcedures()", root);
  const log = createLog<MarkdownLogCode>(logger, ["PROCEDURES_NOT_COUNTED", "PROCEDURE_FILE_UNREADABLE"]);
  const collection = localMemories({ path: join(folder, ".qavr/procedures.db"), name: "procedures", embed, logger }).of(
    MIRRORED,
  );
  const engine = given ?? createEngine({ store: sqliteStore(join(folder, ".qavr/ledger.db")), logger });
  const replacer = fileReplacer(folder);
  const archive = archiveIn(folder, replacer);
  // A file that stays behind only takes space.
  const ready = replacer.clear().catch(() => {});
  const index = procedureIndex(markdownFiles(folder, PROCEDURE_FILES), collection, { engine, namespace: own }, log);

  const matcher = procedureMatcher(index, collection, embed !== undefined);

  /** The ledger keeps counts; without it, texts are still found and shown. */
  const counted = async <Result>(work: () => Promise<Result>, otherwise: Result): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      const codes = ["UNKNOWN_EPISODE", "NOT_SHOWN"] as const;
      const isOver = codes.some((code) => QavrError.isInstance(error, code));
      const cause = isOver ? "The episode is unknown or over" : "The ledger failed";
      log("warn", "PROCEDURES_NOT_COUNTED", `${cause}, so procedures are shown without counting them.`, { error });
      return otherwise;
    }
  };
  const withCounts = async (
    versions: readonly Pick<Catalogued, "memory" | "facts">[],
    namespace: string = own,
  ): Promise<Procedure[]> => {
    const counting = versions.flatMap(memoriesOf);
    const place = { namespace, collection: collection.name };
    const read = await counted(() => viewsOf(engine, place, counting), []);
    const views = new Map(read.map((view) => [view.id, view]));
    return versions.map((version) =>
      toProcedure(
        version.facts,
        memoriesOf(version).map((id) => views.get(id) ?? { ...UNKNOWN, id }),
      ),
    );
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
  const candidateOf = ({
    memory: { id, text },
    facts,
    similarity,
  }: Pick<Match, "memory" | "facts" | "similarity">) => ({
    ...{ id, text, similarity, label: toLabel(facts.name) },
  });
  /** The id of an episode by its own or an alias; the name itself where it has none. */
  const episodeOf = async (reference: string, namespace: string): Promise<string> =>
    (await engine.explain(reference, { namespace }))?.episode ?? reference;
  /** The version that an episode has shown, the named one where it showed several; undefined where it showed none. */
  const shownIn = (view: EpisodeView | undefined, procedure: string, named: string): string | undefined => {
    const shown = view?.exposures
      .filter((exposure) => exposure.collection === collection.name)
      .flatMap(({ items }) => items.map(({ id }) => id));
    return shown?.find((id) => id === named) ?? shown?.find((id) => procedureOf(id) === procedure);
  };
  /** Shows one procedure to a run that has not seen it, or to a new one. */
  const showAlone = async (
    { memory, facts }: Pick<Match, "memory" | "facts">,
    { episode, namespace }: { readonly episode: string | undefined; readonly namespace: string },
  ): Promise<string> => {
    const candidates = [candidateOf({ memory, facts, similarity: 0 })];
    const request = { namespace, collection: collection.name, candidates, topK: 1, keepOrder: true, required: true };
    return (await engine.rank(episode === undefined ? request : { ...request, episode })).episode;
  };
  /** The version that a run gets, and the run's episode, which has shown it. A run that was shown none gets the named one of a trial. */
  const versionIn = async (
    entry: Catalogued,
    named: string,
    { episode: reference, namespace = own }: InRun,
  ): Promise<{ readonly memory: StoredMemory; readonly episode: string; readonly isNew: boolean }> => {
    const view = reference === undefined ? undefined : await engine.explain(reference, { namespace });
    const shown = shownIn(view, entry.facts.procedure, named);
    const seen = shown === undefined ? undefined : await collection.get(shown);
    if (seen && view) return { memory: seen, episode: view.episode, isNew: false };
    const episode = view?.episode ?? reference ?? engine.open({ namespace });
    const inFile = (await collection.get(entry.memory)) as StoredMemory;
    const versions = [entry.memory, toProcedureRecord(inFile).facts.canary];
    const asked = versions.includes(named) ? await collection.get(named) : undefined;
    const memory = asked ?? (await matcher.versionFor(inFile, episode));
    const match = { memory, facts: toProcedureRecord(memory).facts };
    if (reference === undefined || view?.state === "open") {
      return { memory, episode: await showAlone(match, { episode, namespace }), isNew: reference === undefined };
    }
    return { memory, episode, isNew: false };
  };

  const parts = {
    root: folder,
    engine,
    namespace: own,
    collection,
    index,
    replacer,
    archive,
    now: Date.now,
    withCounts,
  };

  return {
    engine,

    collection: {
      name: collection.name,
      async search({ text, limit = 10 }) {
        const found = await matcher.match({ text, limit, kind: undefined, episode: randomUUID() });
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
      const episode =
        given === undefined ? engine.open({ namespace }) : await counted(() => episodeOf(given, namespace), given);
      const most = await engine.fetchSize({ namespace, topK: limit });
      const found = await matcher.match({ text, limit: most, kind, episode });
      if (found.length === 0) {
        if (given === undefined) await engine.end(episode);
        return { procedures: [], episode: given ?? "" };
      }
      const candidates = found.map(candidateOf);
      const request = { namespace, collection: collection.name, text, candidates, topK: limit };
      const recorded = await counted<Ranking | undefined>(() => engine.rank({ ...request, episode }), undefined);
      const ranking = recorded ?? (await engine.rank({ ...request, record: false }));
      const ranked = ranking.items.map(({ index: place }) => found[place] as Match);
      const texts = ranked.map(({ memory }) => memory.text);
      const fitted = fittedTexts(texts, budget ?? Number.POSITIVE_INFINITY, countTokens);
      await counted(async () => {
        if (ranking.episode === "") return;
        const ids = fitted.map(({ index: place }) => ranked[place]?.memory.id as string);
        if (ids.length < ranked.length) engine.narrow(ranking.episode, ranking.exposure, ids);
        if (given === undefined) await engine.end(ranking.episode);
      }, undefined);
      const shown = fitted.map(({ index: place }) => ranked[place] as Match);
      const counts = await withCounts(
        shown.map(({ memory, facts }) => ({ memory: memory.id, facts })),
        namespace,
      );
      const procedures = fitted.map(({ text: part, tokens, truncated }, i) => {
        const { similarity, matchedBy } = shown[i] as Match;
        return { ...(counts[i] as Procedure), similarity, matchedBy, text: part, tokens, truncated };
      });
      return { procedures, episode: ranking.episode };
    },

    async listing(given = {}) {
      const { characters, kind, episode, namespace = own } = resolveListing(given);
      await index.sync();
      const all = await withCounts(
        [...index.catalogue().values()].filter(({ facts }) => kind === undefined || facts.kind === kind),
        namespace,
      );
      const byUse = all.map((procedure) => ({ procedure, use: expectedUse(procedure) })).sort((a, b) => b.use - a.use);
      const ordered = byUse.map(({ procedure }) => procedure);
      const procedures = withinBudget(ordered, characters, ({ name, description }) => name.length + description.length);
      if (procedures.length === 0) return { procedures, episode: episode ?? "" };
      const shown = await counted(async () => {
        const candidates = procedures.map(({ memory, name }) => ({ id: memory, similarity: 0, label: toLabel(name) }));
        const request = {
          namespace,
          collection: collection.name,
          candidates,
          topK: candidates.length,
          keepOrder: true,
          required: true,
        };
        const inRun = episode === undefined ? {} : { episode: await episodeOf(episode, namespace) };
        const ranking = await engine.rank({ ...request, ...inRun });
        if (episode === undefined && ranking.episode !== "") await engine.end(ranking.episode);
        return ranking.episode;
      }, "");
      return { procedures, episode: shown };
    },

    async load(id, run = {}) {
      const { namespace = own, ...rest } = resolveRun("load()", run);
      const entry = await known("load()", id);
      const loaded = await counted(async () => {
        const { memory, episode, isNew } = await versionIn(entry, id, { ...rest, namespace });
        const use = { reward: null, tier: "completed", used: [{ id: memory.id, by: "skill" }] } as const;
        if (isNew) await engine.end(episode, use, { namespace });
        else await engine.report(episode, use, { namespace });
        return { memory, episode };
      }, undefined);
      const memory = loaded?.memory ?? ((await collection.get(entry.memory)) as StoredMemory);
      const [procedure] = await withCounts([{ memory: memory.id, facts: toProcedureRecord(memory).facts }], namespace);
      return { ...(procedure as Procedure), text: memory.text, episode: loaded?.episode ?? "" };
    },

    async report(id, outcome) {
      const { success, notes: note, tier, namespace = own, episode: reference } = resolveProcedureOutcome(outcome);
      const entry = await known("report()", id);
      const { memory, episode, isNew } = await versionIn(entry, id, { episode: reference, namespace });
      const named = [memory.id];
      const vote = success === null ? { neutral: named } : success ? { helpful: named } : { harmful: named };
      const used = success === null ? {} : { used: [{ id: memory.id, by: "skill" as const }] };
      const said = { reward: null, tier, note, ...vote, ...used };
      if (!isNew) return engine.report(episode, said, { namespace });
      return (await engine.end(episode, said, { namespace })) as OutcomeReceipt;
    },

    async stamp(ids) {
      if (ids !== undefined && !Array.isArray(ids))
        throw illegalOption("ids", "stamp(): ids must be a list of ids", ids);
      await index.sync();
      const all = [...index.catalogue().values()];
      const entries = ids === undefined ? all : await Promise.all(ids.map((id) => known("stamp()", id)));
      const counts = new Map((await withCounts(entries)).map((procedure) => [procedure.id, procedure]));
      const report = await writeEach(folder, entries, replacer, (source, { facts }) =>
        stamped(source, counts.get(facts.procedure) as Procedure),
      );
      await noteJob(folder, "stamp");
      return report;
    },

    async migrate(given = {}) {
      const { dryRun } = resolveDryRun("migrate()", given);
      await index.sync();
      const entries = [...index.catalogue().values()];
      const newText = (source: string, { facts }: Pick<Catalogued, "facts">): string | undefined =>
        migrated(source, facts);
      const report = await writeEach(folder, entries, replacer, newText, { dryRun, before: archive.keep });
      if (!dryRun) await noteJob(folder, "migrate");
      return report;
    },

    async revise(id, body) {
      return beginTrial(parts, await known("revise()", id), body);
    },

    async review(given = {}) {
      const { dryRun, model } = resolveReview(given);
      const proposals = await review(parts, { dryRun, model });
      if (!dryRun) await noteJob(folder, "review");
      return proposals;
    },

    async distil(given) {
      const drafts = await distil(parts, resolveDistil(given));
      await noteJob(folder, "distil");
      return drafts;
    },

    accept: (draft) => accept(parts, draft),

    archived: () => archive.list(),

    async restore(copy) {
      const found = (await archive.list()).find((one) => one.copy === copy);
      if (found && (await archive.restore(found))) return;
      const says = found ? `a file is at ${found.path}; move it first.` : "no such copy; archived() has all of them.";
      throw new QavrError("INVALID_ARGUMENT", `restore(): ${says}`, { details: { copy } });
    },

    lastRuns: () => lastRuns(folder),

    async close() {
      await ready;
      await collection.close();
      if (!given) await engine.close();
    },
  };
}

/** (uses that did not fail + 1) / (times shown + 2): the mean of a Beta(1, 1) prior after them. */
function expectedUse({ used, failures, shown }: Procedure): number {
  return (Math.max(0, used - failures) + 1) / (shown + 2);
}
