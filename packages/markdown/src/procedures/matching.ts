import { createHash } from "node:crypto";
import { type LocalMemories, type StoredMemory, wordsOf } from "@qavr/local";
import { hasKeyword } from "./keywords.js";
import type { MatchTier } from "./procedure.js";
import type { ProcedureKind } from "./procedure-file.js";
import type { ProcedureIndex } from "./procedure-index.js";
import { type ProcedureFacts, toProcedureRecord } from "./procedure-record.js";

/** A procedure that matches a request, in one of its versions. */
export interface Match {
  readonly memory: StoredMemory;
  readonly facts: ProcedureFacts;
  readonly similarity: number;
  readonly matchedBy: MatchTier;
}

/** A search: which procedures, and for which episode. */
export interface MatchQuery {
  readonly text: string;
  readonly limit: number;
  /** Undefined for both. */
  readonly kind: ProcedureKind | undefined;
  readonly episode: string;
}

/** Finds the procedures that match a request, and the version that an episode gets of each. */
export interface Matcher {
  /** Best first, each procedure once. */
  match(query: MatchQuery): Promise<Match[]>;
  /** The version that an episode gets. A revision on trial shares the episodes evenly with the version in the file. */
  versionFor(memory: StoredMemory, episode: string): Promise<StoredMemory>;
}

/** @param byMeaning True where the collection searches by meaning beside words. */
export function procedureMatcher(index: ProcedureIndex, collection: LocalMemories, byMeaning: boolean): Matcher {
  const versionFor = async (memory: StoredMemory, episode: string): Promise<StoredMemory> => {
    const { facts } = toProcedureRecord(memory);
    const other = facts.canary ?? facts.canaryOf;
    if (other === undefined) return memory;
    const wantsRevision = isDrawn(episode, facts.procedure);
    return wantsRevision === (facts.canaryOf !== undefined) ? memory : ((await collection.get(other)) ?? memory);
  };

  return {
    versionFor,
    async match({ text, limit, kind, episode }) {
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
      const words = new Set(!byMeaning ? [] : wordsOf(text));
      const tierOf = (id: string, memory: StoredMemory): MatchTier => {
        if (byKeyword.has(id)) return "keyword";
        const isByWords = !byMeaning || wordsOf(`${memory.query}\n${memory.text}`).some((word) => words.has(word));
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
    },
  };
}

/** True for about half of the episodes, independently for each procedure. */
function isDrawn(episode: string, procedure: string): boolean {
  return (createHash("sha256").update(`${episode}\n${procedure}`).digest()[0] as number) < 128;
}
