import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { counting, tally } from "../../core/test/support/counting.js";
import { interceptedPool } from "./support/intercepted-pool.js";
import { openStore, testServer } from "./support/server.js";

const server = await testServer();

describe("a commit that is repeated", () => {
  it("holds payloads against what the server has without fetching them, be they compacted away or not", async () => {
    let received = 0;
    const pool = interceptedPool(server.pool, async (_, send) => {
      const answer = await send();
      for (const { rows } of [answer].flat()) {
        for (const value of rows.flatMap(Object.values)) {
          if (value instanceof Uint8Array) received += value.length;
        }
      }
      return answer;
    });
    const store = openStore({ pool, schema: server.schema() });
    const entries = ["a", "b", "c"].map((key) => ({ ...tally(key), payload: new Uint8Array(500_000).fill(1) }));
    const others = entries.map((entry) => ({ ...entry, payload: new Uint8Array(500_000).fill(2) }));
    await store.commit("n", entries, counting);
    for (const act of [async () => {}, () => writeStates(store, "n", [], { seq: 1, states: [] })]) {
      await act();
      received = 0;
      const receipts = await store.commit("n", [...entries, ...others], counting);
      expect(receipts.map(({ status, seq }) => `${status} ${seq}`)).toEqual([
        ...[1, 2, 3].map((seq) => `duplicate ${seq}`),
        ...[1, 2, 3].map((seq) => `conflict ${seq}`),
      ]);
      expect(received).toBeLessThan(10_000);
    }
    expect(await store.head("n")).toBe(3);
  });
});
