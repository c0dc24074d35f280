import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { QavrError } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { DATASET_NAMES, DATASETS } from "../src/datasets/catalogue.js";
import { loadDataset } from "../src/datasets/load-dataset.js";

describe("a dataset", () => {
  it.each([
    ["banking77", 13_023, 77],
    ["hwu64", 11_030, 64],
    ["clinc150", 22_428, 150],
    ["nlupp-hotels", 725, 40],
    ["sealtools", 2054, 4076],
  ] as const)("%s has %i distinct texts about %i needs", async (name, texts, needs) => {
    const dataset = await loadDataset(name);
    expect(dataset.needs).toHaveLength(needs);
    expect(dataset.texts).toHaveLength(texts);
    expect(new Set(dataset.texts.map(({ text }) => text)).size).toBe(texts);
    const places = dataset.texts.flatMap((text) => text.needs);
    expect(places.every((place) => Number.isInteger(place) && place >= 0 && place < needs)).toBe(true);
  });

  it("has one need per text, or several where it is about that", async () => {
    const several = new Map<string, number>();
    for (const name of DATASET_NAMES) {
      const { texts } = await loadDataset(name);
      several.set(name, texts.filter(({ needs }) => needs.length > 1).length / texts.length);
      expect(texts.every(({ needs }) => needs.length > 0 && new Set(needs).size === needs.length)).toBe(true);
    }
    expect([...several].filter(([, share]) => share > 0).map(([name]) => name)).toEqual(["nlupp-hotels", "sealtools"]);
    expect(several.get("nlupp-hotels")).toBeGreaterThan(0.5);
  });

  it("is refused when a file is not byte for byte the published one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "banking77-"));
    await cp(new URL("../data/banking77", import.meta.url), folder, { recursive: true });
    await writeFile(join(folder, "queries.jsonl"), '{"text":"hello","need":"age_limit"}\n');
    const error = await loadDataset("banking77", pathToFileURL(`${folder}/`)).catch((reason: unknown) => reason);
    expect(QavrError.isInstance(error, "INVALID_STATE")).toBe(true);
    await rm(folder, { recursive: true });
  });

  it("says in reports whose it is and under which licence", () => {
    for (const name of DATASET_NAMES) expect(DATASETS[name].about).toMatch(/CC BY|Apache/);
  });
});
