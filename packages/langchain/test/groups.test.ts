import { Document } from "@langchain/core/documents";
import { memoryStore } from "@qavr/core";
import { expect, it, vi } from "vitest";
import { qavr } from "../src/index.js";

it("reads each document's group from its metadata, as text or a number", async () => {
  const memory = qavr({ store: memoryStore(), logger: {} });
  const rank = vi.spyOn(memory.engine, "rank");
  const documents = ["deploy", 7, "", { not: "a name" }, undefined].map(
    (tool, i) => new Document({ id: `d${i}`, pageContent: `note ${i}`, metadata: { tool } }),
  );
  await memory.compressor({ topN: 2, groupKey: "tool" }).compressDocuments(documents, "deploy fails");
  await memory.compressor({ topN: 2 }).compressDocuments(documents, "deploy fails");
  const groups = rank.mock.calls.map(([{ candidates }]) => candidates.map(({ group }) => group));
  expect(groups).toEqual([["deploy", "7", undefined, undefined, undefined], Array(5).fill(undefined)]);
});

it("ranks on where a group has a name that a ledger cannot keep, such as a long address", async () => {
  const memory = qavr({ store: memoryStore(), logger: {}, onError: "throw" });
  const sources = [`https://files.example/${"a".repeat(600)}`, "lone \uD800", "short"];
  const documents = sources.map(
    (source, i) => new Document({ id: `d${i}`, pageContent: `note ${i}`, metadata: { source } }),
  );
  const rank = vi.spyOn(memory.engine, "rank");
  await memory.compressor({ topN: 2, groupKey: "source" }).compressDocuments(documents, "deploy fails");
  const groups = rank.mock.calls[0]?.[0].candidates.map(({ group }) => group);
  expect(groups).toEqual([expect.stringMatching(/^id:/), expect.stringMatching(/^id:/), "short"]);
  expect(new Set(groups).size).toBe(3);
});

it.each([
  ["the collection", undefined, ["letters", undefined]],
  ["the metadata under a key, first", "tool", ["post", "7"]],
])("reads the group of a collection's memory as named by %s", async (_by, groupKey, expected) => {
  const memory = qavr({ store: memoryStore(), logger: {} });
  const rank = vi.spyOn(memory.engine, "rank");
  const search = async () => [
    { id: "a", text: "sends a letter", similarity: 0.9, group: "letters", metadata: { tool: "post" } },
    { id: "b", text: "money exchange", similarity: 0.8, metadata: { tool: 7 } },
  ];
  const { documents } = await memory.recall({ name: "notes", search }, "send a letter", { k: 1, groupKey });
  expect(rank.mock.calls[0]?.[0].candidates.map(({ group }) => group)).toEqual(expected);
  expect(documents[0]?.metadata).toEqual({ tool: "post" });
});
