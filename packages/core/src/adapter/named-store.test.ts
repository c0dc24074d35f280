import { describe, expect, it } from "vitest";
import { createEngine } from "../engine/create-engine.js";
import { compact } from "../maintenance/compact.js";
import { replay } from "../maintenance/replay.js";
import { memoryStore } from "../store/memory-store.js";
import { lazyStore, locationOf } from "./named-store.js";

describe("the place of a store", () => {
  it.each(['"postgres://u:secret@host/db"', "'/data/ledger.db'"])(
    "is refused with the quotes that a file of the environment may leave around it, and not repeated: %s",
    (store) => {
      expect(() => locationOf(store)).toThrow(/^The store .… is no path: its quotes are part of the value\. /);
    },
  );
});

describe("a store that is opened by its first use", () => {
  it("is closed also while an opening is under way that will fail", async () => {
    const store = lazyStore({ name: "test", capabilities: { durable: true, sharedBackend: true } }, () =>
      Promise.reject(new Error("no such place")),
    );
    const asked = expect(store.head("default")).rejects.toThrow("no such place");
    await store.close();
    await asked;
  });

  it("is closed also when it is still opening", async () => {
    const { close: _, ...inner } = memoryStore();
    let closed = 0;
    const opened = Promise.withResolvers<void>();
    const store = lazyStore(inner, async () => {
      await opened.promise;
      return {
        ...inner,
        close: async () => {
          closed += 1;
        },
      };
    });
    const asked = store.head("default");
    const closing = store.close();
    opened.resolve();
    await closing;
    expect(closed).toBe(1);
    expect(await asked).toBe(0);
    await expect(store.head("default")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("has the checkpoint of a compacted ledger, so that maintenance begins there", async () => {
    const inner = memoryStore();
    const { name, capabilities } = inner;
    const store = lazyStore({ name, capabilities }, async () => inner);
    let now = 0;
    const engine = createEngine({ store, clock: () => ++now });
    for (let run = 0; run < 2; run++) {
      const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 0.5 }], topK: 1 });
      await engine.end(episode, { reward: true });
    }
    expect(await compact(engine, { namespace: "default", olderThan: 0 })).toMatchObject({ checkpoint: 4 });
    expect(await replay(engine)).toMatchObject({ identical: true, checkpoint: 4 });
  });
});
