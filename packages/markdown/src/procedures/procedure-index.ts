import type { Engine } from "@qavr/core";
import type { Log } from "@qavr/core/adapter";
import { copyLearned, revise } from "@qavr/core/maintenance";
import type { LocalMemories, Metadata, NewMemory } from "@qavr/local";
import type { MarkdownLogCode } from "../log-codes.js";
import { isGone, type MarkdownFiles } from "../markdown-files.js";
import { allOf, isEqual, mirroring, type Stamps } from "../mirrored-collection.js";
import { keywordsOf } from "./keywords.js";
import { isPossibleId, type ProcedureText, parseProcedure } from "./procedure-file.js";
import {
  bodyOf,
  memoriesOf,
  memoryOf,
  type ProcedureFacts,
  type ProcedureRecord,
  toMemory,
  toProcedureRecord,
} from "./procedure-record.js";

/** A procedure as its file has it now. */
export interface Catalogued extends Pick<ProcedureRecord, "memory" | "facts"> {
  readonly keywords: readonly string[];
}

/** Keeps a collection in step with the files of procedures. */
export interface ProcedureIndex {
  /** Reads the files that have changed since the last call. Versions that are gone are archived and keep their evidence. */
  sync(): Promise<void>;
  /** The procedures of the last sync, by id in the order of their paths. */
  catalogue(): ReadonlyMap<string, Catalogued>;
}

/** Most characters of a file; the rest of the limit is for name and description. */
const LONGEST = 900_000;

export function procedureIndex(
  files: MarkdownFiles,
  collection: LocalMemories,
  { engine, namespace }: { readonly engine: Engine; readonly namespace: string },
  log: Log<MarkdownLogCode>,
): ProcedureIndex {
  let known: ReadonlyMap<string, Catalogued> = new Map();

  const read = async (path: string): Promise<ProcedureText | undefined> => {
    try {
      const source = await files.read(path);
      const text = parseProcedure(path, source);
      const hasId = isPossibleId(text.id) && isPossibleId(memoryOf(text));
      if (hasId && source.length <= LONGEST) return text;
      const flaw = hasId
        ? `${path} has more than ${LONGEST} characters`
        : `${path} is too long for an id, or has a sign that no id has`;
      log("warn", "PROCEDURE_FILE_UNREADABLE", `${flaw}, so it is left out. ${hasId ? "Split" : "Rename"} it.`);
    } catch (error) {
      log("warn", "PROCEDURE_FILE_UNREADABLE", `${path} could not be read; the last version stays.`, { error });
    }
    return undefined;
  };
  /** Gives a new version the evidence of the one before; true if it did. An edit discounts it as the engine does. */
  const carry = async (from: ProcedureRecord, to: string, isEdited: boolean): Promise<boolean> => {
    try {
      const place = { namespace, collection: collection.name };
      const [old, young] = (await engine.memories({ ...place, ids: [from.memory, to] })).memories;
      // Another process was first, or the text is an old one that has come back.
      if (!old || !young || old.evidence === 0 || young.evidence > 0) return false;
      await copyLearned(engine, { ...place, memories: [{ from: from.memory, to }] });
      if (isEdited) await revise(engine, { ...place, ids: [to] });
      return true;
    } catch (error) {
      log("warn", "PROCEDURES_NOT_COUNTED", "The evidence of a procedure could not be given to its new version.", {
        error,
      });
      return false;
    }
  };
  const reread = async (seen: Stamps | undefined): Promise<Stamps> => {
    // Records come before files: another process writes its records after its file, so a record without a file is truly gone.
    const all = (await allOf(collection, false)).map(toProcedureRecord);
    const active = all.filter(({ facts: { canaryOf } }) => canaryOf === undefined);
    const stamps = await files.stamps();
    const byPath = new Map(active.map((record) => [record.facts.path, record]));
    const gone = active.filter(({ facts: { path } }) => isGone(path, stamps));
    const outdated = new Set(gone);
    const claimed = new Set<ProcedureRecord>();
    const added: NewMemory[] = [];
    const carried: (() => Promise<unknown>)[] = [];
    for (const [path, stamp] of stamps) {
      const text = seen?.get(path) === stamp ? undefined : await read(path);
      if (!text) continue;
      const memory = memoryOf(text);
      const inPlace = byPath.get(path);
      const before = inPlace ?? gone.find(({ body }) => body === bodyOf(text));
      if (before?.memory === memory) {
        const facts = factsOf(text, before.facts);
        if (!isEqual(before.facts, facts)) added.push(toMemory(text, facts));
        continue;
      }
      const earlier = await collection.get(memory);
      const kept: Partial<ProcedureFacts> = earlier ? toProcedureRecord(earlier).facts : {};
      const previous = before?.memory ?? kept.previous;
      const moved = before && !inPlace ? memoriesOf(before) : (kept.moved ?? []);
      added.push(toMemory(text, factsOf(text, { previous, moved: moved.filter((id) => id !== memory) })));
      if (!before) continue;
      outdated.add(before);
      claimed.add(before);
      carried.push(() => carry(before, memory, inPlace !== undefined));
    }
    await collection.add(added);
    // A revision of a text that has changed is outdated, too.
    const ids = [...outdated].flatMap(({ memory, facts: { canary } }) =>
      canary === undefined ? memory : [memory, canary],
    );
    const now = new Set(added.map(({ id }) => id));
    // A revision that was adopted is the version in the file now.
    await collection.archive(ids.filter((id) => !now.has(id)));
    const current = new Map(
      active.filter((record) => !outdated.has(record)).map(({ memory, facts }) => [memory, facts]),
    );
    for (const { id = "", metadata } of added) current.set(id, metadata as unknown as ProcedureFacts);
    for (const record of gone) {
      // It was moved by a copy, which was there before it went.
      const copy = active.find((other) => current.has(other.memory) && other.body === record.body);
      if (!copy || claimed.has(record) || copy.facts.previous !== undefined) continue;
      carried.push(async () => {
        if (!(await carry(record, copy.memory, false))) return;
        const moved = memoriesOf(record).filter((id) => id !== copy.memory);
        const facts = { ...(current.get(copy.memory) as ProcedureFacts), previous: record.memory, moved };
        await collection.update(copy.memory, { metadata: facts as unknown as Metadata });
        current.set(copy.memory, facts);
      });
    }
    for (const work of carried) await work();
    known = catalogueOf(current);
    return stamps;
  };

  return {
    sync: mirroring(files, collection, reread),
    catalogue: () => known,
  };
}

function factsOf(
  text: ProcedureText,
  { previous, moved = [], canary }: { [Kept in "previous" | "moved" | "canary"]?: ProcedureFacts[Kept] | undefined },
): ProcedureFacts {
  const { id: procedure, kind, path, name, description, tags, version, stated, findings } = text;
  return {
    ...{ procedure, kind, path, name, description, tags, version, stated, findings },
    ...(previous === undefined ? {} : { previous }),
    ...(moved.length === 0 ? {} : { moved }),
    ...(canary === undefined ? {} : { canary }),
  };
}

function catalogueOf(current: ReadonlyMap<string, ProcedureFacts>): ReadonlyMap<string, Catalogued> {
  const entries = [...current].map(([memory, facts]) => ({ memory, facts, keywords: keywordsOf(facts) }));
  entries.sort(({ facts: a }, { facts: b }) => (a.path < b.path ? -1 : 1));
  return new Map(entries.map((entry) => [entry.facts.procedure, entry]));
}
