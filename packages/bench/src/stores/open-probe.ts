// Opens a store, reads fifty states once and then a hundred times fifty others, and prints what that took.
import type { Store } from "@qavr/core";
import { seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { sqliteStore } from "@qavr/sqlite";
import { used } from "../report/used-memory.js";
import { distinct, MEMORY_SCOPE, memoryId } from "./outcome-workload.js";
import { READ_STATES } from "./reading.js";

/** Which store to open. */
export interface ProbedStore {
  readonly kind: "SQLite" | "PostgreSQL";
  /** Path or URL. */
  readonly location: string;
  readonly namespace: string;
  readonly memories: number;
}

export interface OpenProbe {
  /** From the first line to the first fifty states, ms. */
  readonly open: number;
  /** Growth of the process's memory by opening and a hundred reads of fifty states, bytes. */
  readonly memory: number;
}

const READS = 100;

async function probe({ kind, location, namespace, memories }: ProbedStore): Promise<OpenProbe> {
  const random = seededRandom(51);
  const ids = (): string[] => distinct(READ_STATES, memories, random).map(memoryId);
  const before = used();
  const started = performance.now();
  const store: Store = kind === "SQLite" ? sqliteStore(location) : postgresStore(location);
  const read = (): Promise<unknown> => store.readStates(namespace, MEMORY_SCOPE, ids());
  await read();
  const open = performance.now() - started;
  for (let i = 0; i < READS; i++) await read();
  const memory = used() - before;
  await store.close();
  return { open, memory };
}

process.stdout.write(JSON.stringify(await probe(JSON.parse(process.argv[2] as string) as ProbedStore)));
