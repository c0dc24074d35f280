import type { Store } from "@qavr/core";
import type { StoreCapabilities } from "@qavr/core/store";

/** Place of a store's data. Every case gets a new, empty one. */
export interface StoreBackend {
  /**
   * Opens a handle. Called once, unless the store declares `durable` (then again after a handle was closed, and must find
   * what was committed) or `sharedBackend`, or the backend can `remember` (then also while another handle is open).
   */
  open(): Store | Promise<Store>;
  /**
   * Saves the data, and returns a function that restores it under open handles, like a promoted replica that lagged or a restored
   * backup. Absent where that cannot happen.
   */
  remember?(): Promise<() => Promise<void>>;
  /**
   * Flips a bit in the stored data of namespace `n`, behind the store's back: in the place of its head, in the head's digest, or in the value of each
   * state. No handle is open meanwhile. Absent where nothing lasts.
   */
  damage?(part: DamagedPart): void | Promise<void>;
  /** Removes the data; all handles are closed by then. */
  destroy?(): void | Promise<void>;
}

/** A part of a namespace that a case damages. */
export type DamagedPart = "head" | "digest" | "states";

/** A store that wants to prove itself. */
export interface StoreSubject {
  /** For titles and messages. */
  readonly name: string;
  createBackend(): StoreBackend | Promise<StoreBackend>;
  /** How hard the model-based case tries. @default {@link DEFAULT_MODEL} */
  readonly model?: ModelOptions | undefined;
}

/** Effort of the model-based case. */
export interface ModelOptions {
  /** Random command sequences, each on a new backend. */
  readonly runs: number;
  /** The same seed tries the same sequences. */
  readonly seed: number;
  /** False reports the first failing sequence as it is, without looking for a shorter one: faster, harder to read. @default true */
  readonly shrink?: boolean | undefined;
}

export const DEFAULT_MODEL: ModelOptions = { runs: 40, seed: 20261120 };

/** Tools of a case. Handles and backends are closed and destroyed after it, also when it failed. */
export interface CaseContext {
  /** The first handle on a new backend. */
  readonly store: Store;
  /** Another handle on the same backend. Only in a case that needs `durable`, `sharedBackend` or `goesBack`. */
  open(): Promise<Store>;
  /** As the backend has it. Only in a case that needs `goesBack`. */
  readonly remember: StoreBackend["remember"];
  /** As the backend has it. Only in a case that needs `damage`. */
  readonly damage: StoreBackend["damage"];
  /** Handles on another new backend. `end` closes and destroys them earlier than at the end of the case. */
  fresh(): Promise<Handles & { end(): Promise<void> }>;
  readonly model: ModelOptions;
}

/** A first handle on a new backend, with the means to open more. */
type Handles = Pick<CaseContext, "store" | "open" | "remember" | "damage">;

/** Optional abilities of a store: its declared capabilities and the optional methods of the store and its backend. */
export interface StoreAbilities extends Pick<StoreCapabilities, "durable" | "sharedBackend"> {
  readonly changesSince: boolean;
  /** The subject's backend can `remember`. */
  readonly goesBack: boolean;
  /** The subject's backend can `damage`. */
  readonly damage: boolean;
  readonly compact: boolean;
  readonly verify: boolean;
}

/** One sentence of the contract and its proof. */
export interface ConformanceCase {
  readonly title: string;
  /** Registered only for stores that offer this. @default for every store */
  readonly needs?: keyof StoreAbilities;
  /** Rejects when the store breaks the sentence. */
  run(context: CaseContext): Promise<void>;
}

/** Cases about one part of the contract. */
export interface ConformanceTopic {
  readonly topic: string;
  readonly cases: readonly ConformanceCase[];
}

/** Abilities of a subject's store, found on a handle with a backend of its own. */
export async function abilitiesOf(subject: StoreSubject): Promise<StoreAbilities> {
  let found: StoreAbilities | undefined;
  await runCase(subject, {
    title: "declares its abilities",
    async run({ store, remember, damage }) {
      const { durable, sharedBackend } = store.capabilities;
      found = {
        durable,
        sharedBackend,
        changesSince: store.changesSince !== undefined,
        goesBack: remember !== undefined,
        damage: damage !== undefined,
        compact: store.readCheckpoint !== undefined,
        verify: store.verify !== undefined,
      };
    },
  });
  return found as StoreAbilities;
}

/**
 * Runs one case against one store on a backend of its own.
 *
 * @throws whatever the case's proof throws; a failing clean-up is thrown too, unless the case failed first.
 */
export async function runCase(subject: StoreSubject, conformanceCase: ConformanceCase): Promise<void> {
  const backends: (() => unknown)[][] = [];
  const fresh: CaseContext["fresh"] = async () => {
    const backend = await subject.createBackend();
    const cleanups: (() => unknown)[] = [() => backend.destroy?.()];
    backends.unshift(cleanups);
    const open = async (): Promise<Store> => {
      const store = await backend.open();
      cleanups.unshift(() => store.close());
      return store;
    };
    return {
      store: await open(),
      open,
      remember: backend.remember?.bind(backend),
      damage: backend.damage?.bind(backend),
      async end() {
        for (const cleanup of cleanups.splice(0)) await cleanup();
      },
    };
  };
  const failures: unknown[] = [];
  try {
    await conformanceCase.run({ ...(await fresh()), fresh, model: subject.model ?? DEFAULT_MODEL });
  } catch (failure) {
    failures.push(failure);
  }
  for (const cleanup of backends.flat()) {
    try {
      await cleanup();
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length > 0) throw failures[0];
}
