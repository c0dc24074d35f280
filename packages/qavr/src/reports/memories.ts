import type { MemoryView } from "@qavr/core";
import type { Ledger } from "../open-ledger.js";
import type { Progress } from "../terminal/terminal.js";
import { collectionNamed } from "./collections.js";
import { type Share, wilson } from "./interval.js";

export const MEMORY_ORDERS = ["worst", "best", "shown", "unsure"] as const;
export type MemoryOrder = (typeof MEMORY_ORDERS)[number];

/** A memory's facts with the interval of its success. */
export interface MemoryRow extends MemoryView {
  readonly collection: string;
  /** Success of the runs that showed it. A report, not a cause: a hard request makes every memory look bad. Absent without outcomes. */
  readonly success?: Share;
}

export interface MemoriesReport {
  readonly namespace: string;
  readonly order: MemoryOrder;
  readonly rows: readonly MemoryRow[];
  /** Memories that were read. */
  readonly read: number;
  /** True when the collections have more than were read. */
  readonly more: boolean;
}

export interface MemoriesRequest {
  readonly order: MemoryOrder;
  readonly limit: number;
  /** @default every collection */
  readonly collection?: string | undefined;
  /** Memories to read at most. */
  readonly most: number;
}

const PAGE = 1_000;

const COMPARE: Readonly<Record<MemoryOrder, (a: MemoryRow, b: MemoryRow) => number>> = {
  worst: (a, b) => a.utility - b.utility,
  best: (a, b) => b.utility - a.utility,
  shown: (a, b) => b.shown - a.shown,
  unsure: (a, b) => width(b) - width(a) || b.shown - a.shown,
};

/**
 * The memories of a namespace in one order. Those without evidence are in the orders `shown` and `unsure` alone.
 *
 * @throws CommandError NOT_FOUND for a collection that the namespace does not have
 */
export async function memoriesReport(
  ledger: Ledger,
  { order, limit, collection, most }: MemoriesRequest,
  progress?: Progress,
): Promise<MemoriesReport> {
  const { engine, namespace } = ledger;
  const all = (await engine.status({ namespace })).collections;
  const collections = collection === undefined ? all : [collectionNamed(collection, all)];
  const rows: MemoryRow[] = [];
  let read = 0;
  let more = false;
  for (const known of collections) {
    let after: string | undefined;
    do {
      if (read >= most) {
        more = true;
        break;
      }
      const page = await engine.memories({ namespace, collection: known.collection, after, limit: PAGE });
      read += page.memories.length;
      for (const memory of page.memories) {
        if (memory.evidence > 0 || order === "shown" || order === "unsure") rows.push(rowOf(memory, known.collection));
      }
      after = page.next;
      progress?.(read, Math.min(most, known.memories));
    } while (after !== undefined);
  }
  return { namespace, order, rows: rows.sort(COMPARE[order]).slice(0, limit), read, more };
}

export function rowOf(memory: MemoryView, collection: string): MemoryRow {
  const runs = memory.successes + memory.failures;
  return { ...memory, collection, ...(runs > 0 ? { success: wilson(memory.successes / runs, runs) } : {}) };
}

function width({ success }: MemoryRow): number {
  return success ? success.high - success.low : 1;
}
