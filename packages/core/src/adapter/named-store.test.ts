import { describe, expect, it } from "vitest";
import { memoryStore } from "../store/memory-store.js";
import { lazyStore } from "./named-store.js";

describe("a store that is opened by its first use", () => {
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
});
