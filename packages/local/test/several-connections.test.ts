import { describe, expect, it } from "vitest";
import type { LocalMemories } from "../src/index.js";
import { collection, found, tempFile } from "./support/collections.js";
import { MEANINGS, MeaningModel } from "./support/embedding.js";
import { SHARES_FILES } from "./support/sharing.js";

describe.runIf(SHARES_FILES)("two connections to one collection", () => {
  it("see each other's additions, changes and deletions", async () => {
    const path = tempFile();
    const embed = new MeaningModel(MEANINGS).embed;
    const [a, b] = [collection({ path, embed }), collection({ path, embed })];
    await a.add([
      { id: "car", text: "An automobile" },
      { id: "cake", text: "A pastry" },
    ]);
    expect(await found(b, "vehicle", 1)).toEqual(["car"]);
    await b.add({ id: "bus", text: "A vehicle" });
    expect((await found(a, "car", 2)).sort()).toEqual(["bus", "car"]);
    await b.delete("car");
    await b.update("bus", { text: "A cake" });
    expect(await found(a, "automobile pastry", 2)).toEqual(["cake", "bus"]);
    await a.archive("cake");
    expect(await found(b, "pastry")).toEqual(["bus"]);
    await a.restore("cake");
    expect((await found(b, "pastry")).sort()).toEqual(["bus", "cake"]);
  });

  it("count the texts that either has added since the last search", async () => {
    const path = tempFile();
    const [a, b] = [collection({ path }), collection({ path })];
    const similarity = async (notes: LocalMemories) => (await notes.search({ text: "cache worker" }))[0]?.similarity;
    await a.add("clear the cache");
    expect([await similarity(a), await similarity(b)]).toEqual(Array(2).fill(expect.any(Number)));
    await a.add(Array.from({ length: 20 }, (_, i) => `deploy ${i}`));
    const now = await similarity(collection({ path }));
    expect([await similarity(a), await similarity(b)]).toEqual([now, now]);
  });

  it("find all first memories by meaning that both have added at once", async () => {
    const path = tempFile();
    const embed = new MeaningModel(MEANINGS).embed;
    const [a, b] = [collection({ path, embed }), collection({ path, embed })];
    await Promise.all([a.add({ id: "car", text: "An automobile" }), b.add({ id: "cake", text: "A pastry" })]);
    expect(await found(a, "vehicle", 1)).toEqual(["car"]);
    expect(await found(a, "cake", 1)).toEqual(["cake"]);
  });

  it("never mix the vectors of two models", async () => {
    const path = tempFile();
    const old = new MeaningModel(MEANINGS);
    const [a, b] = [
      collection({ path, embed: old.embed }),
      collection({ path, embed: new MeaningModel([["oven"], ["automobile"]]).embed }),
    ];
    await a.add([
      { id: "car", text: "An automobile" },
      { id: "cake", text: "A pastry" },
    ]);
    expect(await found(a, "vehicle", 1)).toEqual(["car"]);
    expect(await b.reembed()).toBe(2);
    await expect(a.search({ text: "vehicle" })).rejects.toMatchObject({ code: "EMBEDDING_MISMATCH" });
    await expect(a.add("new")).rejects.toMatchObject({ code: "EMBEDDING_MISMATCH" });
    expect(await found(b, "automobile", 1)).toEqual(["car"]);
    expect(await a.reembed()).toBe(2);
    expect(await found(a, "vehicle", 1)).toEqual(["car"]);
  });
});
