import { mean } from "../statistics/interval.js";
import type { Lookup } from "./lookup.js";
import type { Cost, Latency } from "./pass.js";
import type { Contents } from "./row-bytes.js";

/**
 * What the model is made of, measured on few tenants. *Warm*: the process has seen the tenant before, knows where its ledger ends and
 * has its states cached. *Cold*: it has not.
 */
export interface Constants {
  readonly contents: Contents;
  readonly warm: Cost;
  readonly cold: Cost;
  /** Bytes of the log for a tenant's first outcome after its rows were packed: changed ones do not fit where they lay. */
  readonly firstWal: number;
  /** Outcomes of one tenant by fifty callers of one process, which share commits. */
  readonly shared: Cost;
  /** Bytes that are left of an entry that was compacted away, in its table; its places in two indexes come on top. */
  readonly droppedEntry: number;
  readonly lookup: Lookup;
  /** The same where the server finds no page in its own memory. */
  readonly evicted: Lookup;
  /** A page's first change after a checkpoint: bytes in the log, and the server's CPU time, µs. */
  readonly image: { readonly bytes: number; readonly cpu: number };
}

/** Waits of one caller beside the CPU time that it and the server need: the disk's sync, and the scheduler's. µs */
export interface Waits {
  readonly warm: number;
  readonly cold: number;
}

/** What is left of a caller's time without CPU time; not below 0. */
export function waitsOf({ warm, cold }: Pick<Constants, "warm" | "cold">, latencies: Latencies): Waits {
  const left = ({ ranking, outcome }: Latency, { app, database }: Cost): number =>
    Math.max(0, ranking + outcome - app - database);
  return { warm: left(latencies.warm, warm), cold: left(latencies.cold, cold) };
}

export interface Latencies {
  readonly warm: Latency;
  readonly cold: Latency;
}

/** Both kinds of cost, as they are at some moment. */
export interface CostPair {
  readonly warm: Cost;
  readonly cold: Cost;
}

/** The constants with CPU times of other moments: machines have moods. Bytes and counts stay. */
export function inMood(constants: Constants, moods: readonly CostPair[]): Constants {
  const cpu = (of: (mood: CostPair) => Cost): Pick<Cost, "app" | "database"> => ({
    app: mean(moods.map((mood) => of(mood).app)),
    database: mean(moods.map((mood) => of(mood).database)),
  });
  return {
    ...constants,
    warm: { ...constants.warm, ...cpu(({ warm }) => warm) },
    cold: { ...constants.cold, ...cpu(({ cold }) => cold) },
  };
}

export function meanLatencies(latencies: readonly Latencies[]): Latencies {
  const of = (kind: keyof Latencies): Latency => ({
    ranking: mean(latencies.map((one) => one[kind].ranking)),
    outcome: mean(latencies.map((one) => one[kind].outcome)),
  });
  return { warm: of("warm"), cold: of("cold") };
}

/** Between warm and cold, by the share that is warm. */
export function mixed(warm: number, cold: number, share: number): number {
  return share * warm + (1 - share) * cold;
}
