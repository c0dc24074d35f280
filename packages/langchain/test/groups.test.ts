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
