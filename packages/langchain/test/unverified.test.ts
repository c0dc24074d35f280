import { memoryStore } from "@qavr/core";
import { describe, expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";
import { usearchStore } from "./support/usearch-store.js";

const QUESTION = "payment queue stuck";

describe("documents that an agent has written", () => {
  it("are ranked as unverified, by retrievers, vector stores and compressors alike", async () => {
    const memory = qavr({ store: memoryStore(), logger: {} });
    const store = await usearchStore();
    const rank = vi.spyOn(memory.engine, "rank");
    const unverified = ({ id }: { id?: string }): boolean => id === "restart";
    const found = await memory.retriever(store, { k: 3, unverified }).invoke(QUESTION);
    await memory.vectorStore(store, { unverified }).similaritySearch(QUESTION, 3);
    await memory.compressor({ topN: 2, unverified }).compressDocuments(found, QUESTION);
    expect(rank).toHaveBeenCalledTimes(3);
    for (const [{ candidates }] of rank.mock.calls) {
      expect(candidates.filter((candidate) => candidate.unverified).map(({ id }) => id)).toEqual(["restart"]);
    }
  });

  it("are told by a function and by nothing else", async () => {
    const memory = qavr({ store: memoryStore() });
    const store = await usearchStore();
    expect(() => memory.retriever(store, { unverified: "agent" as never })).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});
