import { describe, expect, it } from "vitest";
import { storeSize } from "../src/ranking/host.js";
import { hnswInstalled, hnswStore } from "./support/hnsw-store.js";
import { usearchStore } from "./support/usearch-store.js";

describe("storeSize", () => {
  it("is what a native index counts", async () => {
    if (hnswInstalled) expect(storeSize(await hnswStore())).toBe(6);
    expect(storeSize(await usearchStore())).toBe(6);
    expect(storeSize({ index: { ntotal: () => 3 } })).toBe(3);
  });

  it.each([
    ["an empty index, whose getter throws", Object.defineProperty({}, "index", { get: () => JSON.parse("{") })],
    ["no index", {}],
    ["an index that is a name", { index: "vectors" }],
    ["an index that counts nothing", { index: {} }],
    ["a count that is no number", { index: { size: () => "6" } }],
    ["a count that is a property", { index: { size: 6 } }],
    [
      "a count that throws",
      {
        index: {
          size: () => {
            throw new Error("closed");
          },
        },
      },
    ],
  ])("is unknown of a store with %s", (_what, store) => {
    expect(storeSize(store)).toBeUndefined();
  });
});
