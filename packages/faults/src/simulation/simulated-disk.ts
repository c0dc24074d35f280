import { memoryStore, QavrError, type Store } from "@qavr/core";
import type { CommitReceipt, Outbox, WaitingCommit } from "@qavr/core/store";
import type { Random } from "@qavr/lab";
import type { VirtualTime } from "./virtual-time.js";

/** A deliberate fault of the parts that the simulation is about, which it must find. */
export type Mutant =
  | "acknowledges before it commits"
  | "forgets keys"
  | "has an outbox that forgets with its process"
  | "has no timeouts";

/** Conditions of the network and the disk for a while. */
export interface Weather {
  /** Chances per call, in [0, 1]. */
  readonly fails: number;
  readonly losesAnswer: number;
  readonly hangs: number;
  /** Longest answer, ms. */
  readonly delay: number;
}

const CALM: Weather = { fails: 0, losesAnswer: 0, hangs: 0, delay: 2 };

/** Data that survives every crash: one ledger and one outbox, behind a faulty network and file system. */
export class SimulatedDisk {
  /** The durable ledger, for checks. */
  readonly backend: Store = memoryStore();
  readonly queued: WaitingCommit[] = [];
  storeWeather: Weather = CALM;
  outboxWeather: Weather = CALM;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #mutant: Mutant | undefined;
  #ids = 0;
  #calls = 0;

  constructor(time: VirtualTime, random: Random, mutant?: Mutant) {
    this.#time = time;
    this.#random = random;
    this.#mutant = mutant;
  }

  /** The store as one process reaches it. After `isDead` says so nothing of it arrives any more, and no answer comes. */
  store(isDead: () => boolean): Store {
    const { backend } = this;
    const remote = <T>(call: () => Promise<T>): Promise<T> => this.#remote(call, () => this.storeWeather, isDead);
    return {
      name: "simulated",
      capabilities: { durable: true, sharedBackend: true },
      commit: (namespace, entries, reduce) => {
        if (this.#mutant === "acknowledges before it commits") {
          void this.#time.sleep(1_500).then(() => (isDead() ? undefined : backend.commit(namespace, entries, reduce)));
          return this.#time.sleep(1).then(() => entries.map((): CommitReceipt => ({ status: "committed", seq: 1 })));
        }
        if (this.#mutant !== "forgets keys") return remote(() => backend.commit(namespace, entries, reduce));
        const renamed = entries.map((entry) => ({ ...entry, key: `${entry.key}#${this.#calls++}` }));
        return remote(() => backend.commit(namespace, renamed, reduce));
      },
      readStates: (...given) => remote(() => backend.readStates(...given)),
      scanStates: (...given) => remote(() => backend.scanStates(...given)),
      readEntries: (...given) => remote(() => backend.readEntries(...given)),
      findKey: (...given) => remote(() => backend.findKey(...given)),
      head: (...given) => remote(() => backend.head(...given)),
      namespaces: (...given) => remote(() => backend.namespaces(...given)),
      atHead: (...given) => remote(() => backend.atHead(...given)),
      eraseNamespace: (...given) => remote(() => backend.eraseNamespace(...given)),
      close: async () => undefined,
    };
  }

  outbox(isDead: () => boolean, cap: number): Outbox {
    const own: WaitingCommit[] = [];
    const kept = this.#mutant === "has an outbox that forgets with its process" ? own : this.queued;
    const local = <T>(call: () => Promise<T>): Promise<T> => this.#remote(call, () => this.outboxWeather, isDead);
    return {
      name: "simulated outbox",
      append: (commit) =>
        local(async () => {
          if (kept.length >= cap) throw new QavrError("OUTBOX_FULL", "The outbox is full.");
          kept.push({ ...commit, id: ++this.#ids });
        }),
      read: ({ after = 0, limit }) => local(async () => kept.filter(({ id }) => id > after).slice(0, limit)),
      remove: (ids) =>
        local(async () => {
          for (const id of ids) {
            const place = kept.findIndex((commit) => commit.id === id);
            if (place >= 0) kept.splice(place, 1);
          }
        }),
      size: () => local(async () => kept.length),
      close: async () => undefined,
    };
  }

  async #remote<T>(call: () => Promise<T>, weather: () => Weather, isDead: () => boolean): Promise<T> {
    const never = (): Promise<T> => new Promise(() => undefined);
    const { fails, losesAnswer, hangs, delay } = weather();
    const luck = this.#random();
    const [there, back] = [this.#random() * delay, this.#random() * delay];
    await this.#time.sleep(there);
    if (isDead() || luck < hangs) return never();
    if (luck < hangs + fails) throw new Error("connection refused");
    const result = await call();
    await this.#time.sleep(back);
    if (isDead()) return never();
    if (luck < hangs + fails + losesAnswer) throw new Error("connection lost");
    return result;
  }
}
