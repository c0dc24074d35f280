import { memoryStore, type Store } from "../../src/index.js";

type Fault = "none" | "before" | "after" | "never" | "unheard";

export interface FaultyStore {
  readonly store: Store;
  /** The store behind it, for looking at what really happened. */
  readonly inner: Store;
  /**
   * Behaviour of the next calls of a method: `before` fails without effect, `after` takes effect and loses the answer, `never` has no
   * effect and does not answer, `unheard` takes effect and does not answer.
   */
  readonly faults: { commit: Fault; readStates: Fault };
  /** States of scopes that start with this come back cut short. */
  readonly damage: { scope: string | undefined };
}

/** A memory store whose calls fail on demand, as a database does that restarts. It cannot tell what changed, so every ranking reads. */
export function faultyStore(): FaultyStore {
  const inner = memoryStore();
  const faults: FaultyStore["faults"] = { commit: "none", readStates: "none" };
  const damage: FaultyStore["damage"] = { scope: undefined };
  const around = async <T>(fault: Fault, call: () => Promise<T>): Promise<T> => {
    if (fault === "before") throw new Error("connection refused");
    if (fault === "never") return new Promise(() => undefined);
    const result = await call();
    if (fault === "unheard") return new Promise(() => undefined);
    if (fault === "after") throw new Error("connection lost");
    return result;
  };
  const { changesSince: _, ...rest } = inner;
  const store: Store = {
    ...rest,
    name: "faulty",
    commit: (...call) => around(faults.commit, () => inner.commit(...call)),
    readStates: async (...call) => {
      const states = await around(faults.readStates, () => inner.readStates(...call));
      const damaged = damage.scope !== undefined && call[1].startsWith(damage.scope);
      return damaged ? states.map((bytes) => bytes?.slice(0, 21)) : states;
    },
  };
  return { store, inner, faults, damage };
}

/** A memory store whose commits wait until a test says of each, in their order, whether it works. */
export function answeredStore(): { readonly store: Store; readonly answers: ((works: boolean) => void)[] } {
  const inner = memoryStore();
  const answers: ((works: boolean) => void)[] = [];
  const commit: Store["commit"] = async (...call) => {
    if (!(await new Promise<boolean>((resolve) => answers.push(resolve)))) throw new Error("connection lost");
    return inner.commit(...call);
  };
  return { store: { ...inner, commit }, answers };
}
