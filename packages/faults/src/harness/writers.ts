import { setTimeout as pause } from "node:timers/promises";
import { QavrError, type Store } from "@qavr/core";
import type { CommitReceipt } from "@qavr/core/store";
import { type CheckResult, mutantResult } from "./check.js";
import { addUp, counting, NAMESPACE, tally } from "./tallies.js";

const WRITERS = 4;
/** How long a server may be away until its writers give up, ms: far longer than it takes to restart or replace one. */
const TIMEOUT = 60_000;
/** Codes for a server that goes away; the caller repeats the call. */
export const REPEATED: readonly string[] = ["STORE_UNAVAILABLE", "STORE_COMMIT_UNKNOWN"];

interface WritersOptions {
  readonly namespace?: string;
  readonly writers?: number;
  /** Beginning of their keys. @default "w" */
  readonly name?: string;
  /** Codes of refused calls that are repeated. */
  readonly repeated?: readonly string[];
}

/** Outcomes that writers have been told are safe, while their server comes and goes. */
export class Writers {
  /** Place by key. */
  readonly acknowledged: Map<string, number> = new Map();
  /** Calls that were refused with a code that tells a caller to repeat them, and repeated. */
  refused = 0;
  /** Longest time that a call was repeated until it was acknowledged, ms. Callers may set it back. */
  longestWait = 0;
  readonly namespace: string;
  readonly #store: Store;
  readonly #repeated: readonly string[];
  readonly #name: string;
  readonly #writers: Promise<void>[];
  #isOver = false;

  constructor(
    store: Store,
    { namespace = NAMESPACE, writers = WRITERS, name = "w", repeated = REPEATED }: WritersOptions = {},
  ) {
    this.#store = store;
    this.#name = name;
    this.#repeated = repeated;
    this.namespace = namespace;
    this.#writers = Array.from({ length: writers }, (_, writer) => this.#write(writer));
  }

  /** Resolves when so many more are acknowledged. @throws when that takes longer than a minute */
  async acknowledge(more: number): Promise<void> {
    const before = this.acknowledged.size;
    const giveUpAt = performance.now() + TIMEOUT;
    while (this.acknowledged.size < before + more) {
      if (performance.now() > giveUpAt) throw new Error("Nothing is acknowledged any more.");
      await Promise.race([pause(1), ...this.#writers]);
    }
  }

  /** Lets everything that was begun be acknowledged. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writers);
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const key = `${this.#name}${writer}-${n}`;
      const started = performance.now();
      this.acknowledged.set(key, (await this.#untilAnswered(key)).seq);
      this.longestWait = Math.max(this.longestWait, performance.now() - started);
    }
  }

  /** Repeats what was refused, as a caller would. */
  async #untilAnswered(key: string): Promise<CommitReceipt> {
    for (;;) {
      try {
        const [receipt] = await this.#store.commit(this.namespace, [tally(key)], counting);
        return receipt as CommitReceipt;
      } catch (error) {
        if (!(QavrError.isInstance(error) && this.#repeated.includes(error.code))) throw error;
        this.refused += 1;
        await pause(20);
      }
    }
  }
}

/** Acknowledged outcomes, and how many survived. */
export interface Survival {
  readonly acknowledged: number;
  readonly refused: number;
  /** Acknowledged, and not in the ledger, or in another place. */
  readonly lost: number;
  /** In the ledger twice, or counted otherwise than once. */
  readonly doubled: number;
}

export async function survivalOf({ acknowledged, refused, namespace }: Writers, store: Store): Promise<Survival> {
  const { places, entries, gaps, wrong } = await addUp(store, namespace);
  const lost = [...acknowledged].filter(([key, seq]) => places.get(key) !== seq).length;
  return { acknowledged: acknowledged.size, refused, lost, doubled: entries - places.size + gaps + wrong };
}

/** Outcomes of several ledgers or servers, together. */
export function together(all: readonly Survival[]): Survival {
  const sum = (name: keyof Survival): number => all.reduce((total, one) => total + one[name], 0);
  return { acknowledged: sum("acknowledged"), refused: sum("refused"), lost: sum("lost"), doubled: sum("doubled") };
}

/** Results for outcomes that must survive their server, and for a mutant that loses them. */
export function survivalResults(
  { acknowledged, refused, lost, doubled }: Survival,
  told: { readonly what: string; readonly times: string; readonly least: number },
  mutant: { readonly what: string; readonly times: string; readonly lost: number },
): readonly CheckResult[] {
  return [
    {
      promise: "R1",
      what: told.what,
      tried: `${told.times}, ${acknowledged} acknowledged outcomes, ${refused} calls refused and repeated`,
      seen: `${lost} lost, ${doubled} counted twice`,
      held: lost === 0 && doubled === 0 && acknowledged >= told.least,
    },
    mutantResult({
      what: mutant.what,
      tried: mutant.times,
      seen: `${mutant.lost} lost outcomes seen`,
      held: mutant.lost > 0,
    }),
  ];
}
