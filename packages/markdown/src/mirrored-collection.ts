import type { Engine, MemoryView } from "@qavr/core";
import type { LocalMemories, StoredMemory } from "@qavr/local";
import { inTurn } from "./in-turn.js";
import { isSame, type MarkdownFiles } from "./markdown-files.js";

/** Their namespace in the collection's file, where an application's own memories of the same name may be, too. */
export const MIRRORED = "files";

/** All memories of a collection, or all that are archived. */
export async function allOf(collection: LocalMemories, archived: boolean): Promise<StoredMemory[]> {
  const memories: StoredMemory[] = [];
  let after: string | undefined;
  do {
    const page = await collection.list({ after, limit: 1_000, archived });
    memories.push(...page.memories);
    after = page.next;
  } while (after !== undefined);
  return memories;
}

/** Ids that one read of the ledger takes. */
const READ_AT_ONCE = 10_000;

/** Facts of the ledger about any number of memories, in the order of their ids. */
export async function viewsOf(
  engine: Engine,
  place: { readonly namespace?: string; readonly collection: string },
  ids: readonly string[],
): Promise<MemoryView[]> {
  const views: MemoryView[] = [];
  for (let i = 0; i < ids.length; i += READ_AT_ONCE) {
    views.push(...(await engine.memories({ ...place, ids: ids.slice(i, i + READ_AT_ONCE) })).memories);
  }
  return views;
}

/** Objects of the same fields in any order, as JSON keeps them. */
export function isEqual(a: object, b: object): boolean {
  const sorted = (value: object): string => JSON.stringify(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
  return sorted(a) === sorted(b);
}

/** Stamps of files, by path. */
export type Stamps = ReadonlyMap<string, string>;

/** Most times that one call reads files which change all the time. The next call reads their latest change. */
const MOST_READINGS = 10;

/**
 * Keeps a collection in step with its files, by `reread`: it reads the files whose stamps differ from `seen` and returns the stamps that
 * it went by. Calls run one after the other: each sees the files as they are when it begins, or later.
 */
export function mirroring(
  files: Pick<MarkdownFiles, "stamps">,
  collection: Pick<LocalMemories, "size">,
  reread: (seen: Stamps | undefined) => Promise<Stamps>,
): () => Promise<void> {
  let seen: Stamps | undefined;
  let size: number | undefined;
  const update = async (): Promise<void> => {
    // Again where a file changed meanwhile: these writes may have come after those of a process that saw the newer file.
    for (let readings = 0; readings < MOST_READINGS; readings++) {
      if (seen && isSame(seen, await files.stamps())) {
        if (size === (await collection.size())) return;
        // Another process has seen a file that came and went since, or missed one that was away, and its records stay.
        seen = undefined;
      }
      seen = await reread(seen);
      size = await collection.size();
    }
  };
  const queue = inTurn();
  return () => queue(update);
}
