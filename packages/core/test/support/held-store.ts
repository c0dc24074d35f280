import { memoryStore, type Store } from "../../src/index.js";

export interface HeldStore {
  readonly store: Store;
  hold(): void;
  release(): void;
}

/** A memory store whose calls of these methods wait while it is held. It cannot tell what changed, so every ranking reads. */
export function heldStore(...methods: readonly ("commit" | "readStates")[]): HeldStore {
  const { changesSince: _, ...inner } = memoryStore();
  let gate: PromiseWithResolvers<void> | undefined;
  const wait = async (method: "commit" | "readStates"): Promise<void> => {
    if (methods.includes(method)) await gate?.promise;
  };
  return {
    store: {
      ...inner,
      async commit(...call) {
        await wait("commit");
        return inner.commit(...call);
      },
      async readStates(...call) {
        await wait("readStates");
        return inner.readStates(...call);
      },
    },
    hold() {
      gate = Promise.withResolvers();
    },
    release() {
      gate?.resolve();
      gate = undefined;
    },
  };
}
