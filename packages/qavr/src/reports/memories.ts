import type { MemoryView } from "@qavr/core";
import type { Progress } from "@qavr/core/maintenance";
import { CommandError } from "../exit-codes.js";
import type { Ledger } from "../open-ledger.js";
import { collectionNamed, collectionsOf } from "./collections.js";
import { type Share, wilson } from "./interval.js";

export const MEMORY_ORDERS = ["worst", "best", "shown", "unsure"] as const;
export type MemoryOrder = (typeof MEMORY_ORDERS)[number];

/** A memory's facts with the interval of its success. */
export interface MemoryRow extends MemoryView {
  readonly collection: string;
  /** Share of the runs that showed it with a reward of 0.5 or more. A report, not a cause: a hard request makes every memory look bad. Absent without outcomes. */
  readonly success?: Share;
}

export interface MemoriesReport {
  readonly namespace: string;
  readonly order: MemoryOrder;
  readonly rows: readonly MemoryRow[];
  /** Memories of the collections: those with evidence in the orders `worst` and `best`. */
  readonly of: number;
  /** Memories from which the rows were taken, where that is not all: the orders `shown` and `unsure` of a long collection. */
  readonly sample?: number;
  /** Memories that the page left out, since thousands have nearly the same utility. */
  readonly unread?: number;
  /** Give it as `after` for the next page; absent after the last one. */
  readonly next?: string;
}

export interface MemoriesRequest {
  readonly order: MemoryOrder;
  readonly limit: number;
  /** @default every collection */
  readonly collection?: string | undefined;
  /** `next` of the page before, in the orders `worst` and `best`. */
  readonly after?: string | undefined;
  /** Memories to read at most in the other orders. */
  readonly most: number;
}

type Collections = Awaited<ReturnType<typeof collectionsOf>>;

/** Memories that are read at once. */
export const PAGE = 1_000;

/**
 * The memories of a namespace in one order. Those without evidence are in the orders `shown` and `unsure` alone.
 *
 * @throws CommandError NOT_FOUND for a collection that the namespace does not have, CONFLICT for another learner's memories, USAGE for an
 *   `after` that no page gave
 */
export async function memoriesReport(
  ledger: Ledger,
  request: MemoriesRequest,
  progress?: Progress,
): Promise<MemoriesReport> {
  const all = await collectionsOf(ledger);
  const collections = request.collection === undefined ? all : [collectionNamed(request.collection, all)];
  return request.order === "worst" || request.order === "best"
    ? byUtility(ledger, request, collections)
    : fromSample(ledger, request, collections, progress);
}

/** Reads a page of each collection, and keeps the first rows of all. */
async function byUtility(
  { engine, namespace }: Ledger,
  { order, limit, after }: MemoriesRequest,
  collections: Collections,
): Promise<MemoriesReport> {
  const sign = order === "worst" ? 1 : -1;
  const last = lastRows(after);
  const pages = await Promise.all(
    collections.map(async ({ collection }) => {
      const rows: MemoryRow[] = [];
      let unread = 0;
      let next = last.get(collection);
      do {
        const page = await engine.memories({
          namespace,
          collection,
          order: order === "worst" ? "lowest" : "highest",
          after: next,
          limit: Math.min(PAGE, limit - rows.length),
        });
        rows.push(...page.memories.map((memory) => rowOf(memory, collection)));
        // Each page looks at the same long bands again.
        unread = Math.max(unread, page.unread ?? 0);
        next = page.next;
      } while (next !== undefined && rows.length < limit);
      return { rows, unread, more: next !== undefined };
    }),
  );
  const found = pages.flatMap(({ rows }) => rows).sort((a, b) => sign * (a.utility - b.utility));
  const rows = found.slice(0, limit);
  for (const { collection, id } of rows) last.set(collection, id);
  const more = found.length > rows.length || pages.some((page) => page.more);
  const unread = pages.reduce((sum, page) => sum + page.unread, 0);
  return {
    namespace,
    order,
    rows,
    of: collections.reduce((sum, { withEvidence }) => sum + withEvidence, 0),
    ...(unread > 0 ? { unread } : {}),
    ...(more ? { next: JSON.stringify([...last]) } : {}),
  };
}

/** The last row of each collection on earlier pages. */
function lastRows(after: string | undefined): Map<string, string> {
  if (after === undefined) return new Map();
  try {
    return new Map(JSON.parse(after) as [string, string][]);
  } catch {
    throw new CommandError("USAGE", "after must be the next of the page before.");
  }
}

async function fromSample(
  { engine, namespace }: Ledger,
  { order, limit, most }: MemoriesRequest,
  collections: Collections,
  progress?: Progress,
): Promise<MemoriesReport> {
  const of = collections.reduce((sum, { memories }) => sum + memories, 0);
  const rows: MemoryRow[] = [];
  let more = false;
  for (const { collection } of collections) {
    let after: string | undefined;
    do {
      more = rows.length >= most;
      if (more) break;
      const page = await engine.memories({ namespace, collection, after, limit: PAGE });
      rows.push(...page.memories.map((memory) => rowOf(memory, collection)));
      after = page.next;
      progress?.(rows.length, Math.min(most, of));
    } while (after !== undefined);
  }
  const sorted = rows.sort((a, b) =>
    order === "shown" ? b.shown - a.shown : width(b) - width(a) || b.shown - a.shown,
  );
  // Imported and copied memories have evidence before they are shown, and are not counted among those that were.
  const known = Math.max(of, rows.length);
  return { namespace, order, rows: sorted.slice(0, limit), of: known, ...(more ? { sample: rows.length } : {}) };
}

export function rowOf(memory: MemoryView, collection: string): MemoryRow {
  const runs = memory.successes + memory.failures;
  return { ...memory, collection, ...(runs > 0 ? { success: wilson(memory.successes / runs, runs) } : {}) };
}

function width({ success }: MemoryRow): number {
  return success ? success.high - success.low : 1;
}
