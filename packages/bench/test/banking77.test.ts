import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { QavrError } from "@qavr/core";
import { expect, it } from "vitest";
import { loadBanking77 } from "../src/datasets/banking77.js";

it("loads 13,023 distinct texts, each with one of 77 needs", async () => {
  const { needs, texts } = await loadBanking77();
  expect(needs).toHaveLength(77);
  expect(texts).toHaveLength(13_023);
  expect(new Set(texts.map((text) => text.text)).size).toBe(texts.length);
  expect(new Set(texts.map((text) => text.need)).size).toBe(needs.length);
});

it("refuses a file that is not byte for byte the published one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "banking77-"));
  await cp(new URL("../data/banking77", import.meta.url), folder, { recursive: true });
  await writeFile(join(folder, "queries.jsonl"), '{"text":"hello","need":"age_limit"}\n');
  const error = await loadBanking77(pathToFileURL(`${folder}/`)).catch((reason: unknown) => reason);
  expect(QavrError.isInstance(error, "INVALID_STATE")).toBe(true);
  await rm(folder, { recursive: true });
});
