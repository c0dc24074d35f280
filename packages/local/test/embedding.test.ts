import { DatabaseSync } from "node:sqlite";
import { Embeddings } from "@langchain/core/embeddings";
import type { LogFields } from "@qavr/core";
import { describe, expect, it, vi } from "vitest";
import { localMemories } from "../src/index.js";
import { collection, found, tempFile } from "./support/collections.js";
import { MEANINGS, MeaningModel } from "./support/embedding.js";

const NOTES = [
  { id: "car", text: "The automobile needs fuel" },
  { id: "quick", text: "A quick automobile wins" },
  { id: "cake", text: "Bake the pastry" },
];

function vectorsIn(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const kept = Number(db.prepare("SELECT count(*) AS kept FROM vector").get()?.kept);
  db.close();
  return kept;
}

describe("a collection with an embedding model", () => {
  it("finds by meaning and by words, with similarities in [0, 1]", async () => {
    const model = new MeaningModel(MEANINGS);
    const notes = collection({ embed: model.embed });
    await notes.add(NOTES);
    expect(await found(notes, "fast vehicle", 2)).toEqual(["quick", "car"]);
    expect((await found(notes, "fuel"))[0]).toBe("car");
    for (const { similarity } of await notes.search({ text: "automobile cake fuel" })) {
      expect(similarity).toBeGreaterThanOrEqual(0);
      expect(similarity).toBeLessThanOrEqual(1);
    }
    expect(await found(notes, " ")).toEqual([]);
    const opposite = collection({ embed: async (texts) => texts.map((text) => [text.includes("cake") ? -1 : 1]) });
    await opposite.add(NOTES);
    expect((await opposite.search({ text: "cake" })).map(({ similarity }) => similarity >= 0)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("takes Embeddings of LangChain and an embedding model of the AI SDK", async () => {
    const model = new MeaningModel(MEANINGS);
    class Counted extends Embeddings {
      embedDocuments = model.embed as (texts: string[]) => Promise<number[][]>;
      embedQuery = async (text: string) => (await model.embed([text]))[0] as number[];
    }
    const sizes: number[] = [];
    const sdk = {
      maxEmbeddingsPerCall: 2,
      async doEmbed({ values }: { values: string[] }) {
        sizes.push(values.length);
        return { embeddings: await model.embed(values) };
      },
    };
    for (const embed of [new Counted({}), sdk]) {
      const notes = collection({ embed });
      await notes.add(NOTES);
      expect(await found(notes, "vehicle", 2)).toEqual(["car", "quick"]);
    }
    expect(sizes.slice(0, 2)).toEqual([2, 1]);
    expect(() => localMemories({ path: ":memory:", embed: {} as never })).toThrow("Embeddings of LangChain");
  });

  it("keeps vectors in its file, and embeds a text once", async () => {
    const path = tempFile();
    const first = new MeaningModel(MEANINGS);
    const notes = localMemories({ path, embed: first.embed });
    await notes.add(NOTES);
    await notes.add([...NOTES, "One more"]);
    expect(first.given).toHaveLength(4);
    await notes.close();
    const model = new MeaningModel(MEANINGS);
    const again = collection({ path, embed: model.embed });
    expect(await found(again, "vehicle", 2)).toEqual(["car", "quick"]);
    await again.search({ text: "cake" });
    // One stored text shows whether the model is the same.
    expect(model.given).toEqual([NOTES[0]?.text, "vehicle", "cake"]);
  });

  it("knows its model again where the first text has no meaning to it", async () => {
    const path = tempFile();
    const embed = async (texts: string[]) =>
      texts.map((text) => ["car", "cake"].map((word) => Number(text.includes(word))));
    const notes = localMemories({ path, embed });
    await notes.add(["hello", "a car", "a cake"]);
    await notes.close();
    const again = localMemories({ path, embed });
    expect(await again.search({ text: "car", limit: 1 })).toMatchObject([{ text: "a car" }]);
    await again.close();
    const other = async (texts: string[]) => (await embed(texts)).map((vector) => vector.toReversed());
    await expect(collection({ path, embed: other }).search({ text: "car" })).rejects.toMatchObject({
      code: "EMBEDDING_MISMATCH",
    });
    const zeros = tempFile();
    await collection({ path: zeros, embed }).add("hello");
    expect(await collection({ path: zeros, embed }).search({ text: "car" })).toMatchObject([{ text: "hello" }]);
    const longer = async (texts: string[]) => (await embed(texts)).map((vector) => [...vector, 0]);
    await expect(collection({ path: zeros, embed: longer }).add("a car")).rejects.toMatchObject({
      code: "EMBEDDING_MISMATCH",
    });
  });

  it("keeps the vector of a text that one call replaces and brings back", async () => {
    const notes = collection({ embed: new MeaningModel(MEANINGS).embed });
    const versions = [
      { id: "car", text: "The automobile" },
      { id: "car", text: "The pastry" },
    ];
    await notes.add(versions);
    await notes.add(versions);
    expect(await notes.reembed()).toBe(0);
    expect(await notes.search({ text: "cake" })).toMatchObject([{ text: "The pastry", similarity: 0.5 }]);
  });

  it("adds a known text again beside a new memory of the same text", async () => {
    const notes = collection({ embed: new MeaningModel(MEANINGS).embed });
    await notes.add({ id: "a", text: "A quick automobile" });
    await notes.add(["a", "b"].map((id) => ({ id, text: "A quick automobile" })));
    expect((await found(notes, "fast vehicle")).sort()).toEqual(["a", "b"]);
  });

  it("follows updates, deletions, archives and restores", async () => {
    const notes = collection({ embed: new MeaningModel(MEANINGS).embed });
    await notes.add(NOTES);
    await notes.update("cake", { text: "Wash the vehicle" });
    await notes.update("car", { metadata: { seen: true } });
    expect((await found(notes, "vehicle", 3)).sort()).toEqual(["cake", "car", "quick"]);
    await notes.delete("quick");
    await notes.archive("car");
    expect(await found(notes, "car")).toEqual(["cake"]);
    await notes.restore("car");
    expect((await found(notes, "vehicle")).sort()).toEqual(["cake", "car"]);
    await notes.archive("car");
    expect(await found(notes, "vehicle")).toEqual(["cake"]);
    await notes.add({ id: "car", text: "The automobile needs fuel", metadata: { seen: true } });
    expect((await found(notes, "vehicle")).sort()).toEqual(["cake", "car"]);
    expect((await notes.search({ text: "vehicle", filter: { seen: true } })).map(({ id }) => id)).toEqual(["car"]);
    expect(await found(notes.of("other"), "vehicle")).toEqual([]);
    await notes.of("other").add(NOTES);
    expect(await found(notes.of("other"), "pastry", 1)).toEqual(["cake"]);
  });

  it("R7: embeds a claim with the task that led to it, also anew and after an edit", async () => {
    const model = new MeaningModel(MEANINGS);
    const claims = collection({ embed: model.embed });
    const claim = { id: "c", text: "Partition the orders table by day.", query: "a quick vehicle" };
    await claims.add([claim, { id: "other", text: "Bake the pastry in the oven." }]);
    expect(model.given).toEqual([`${claim.query}\n${claim.text}`, "Bake the pastry in the oven."]);
    expect(await found(claims, "fast car", 1)).toEqual(["c"]);
    await claims.add(claim);
    for (let time = 0; time < 2; time++) await claims.update("c", { text: "Partition it by hour." });
    expect(model.given.at(-1)).toBe("a quick vehicle\nPartition it by hour.");
    expect(model.given).toHaveLength(4);
    expect(await found(claims, "fast car", 1)).toEqual(["c"]);
    await claims.add({ id: "c", text: claim.text });
    expect(model.given.at(-1)).toBe(claim.text);
    model.down = true;
    await claims.add(claim);
    model.down = false;
    expect(await claims.reembed()).toBe(1);
    expect(model.given.at(-1)).toBe(`${claim.query}\n${claim.text}`);
    expect(await found(claims, "fast car", 1)).toEqual(["c"]);
  });

  it("P12: searches by words while the model is down, keeps new texts, and says so in the log", async () => {
    const lines: LogFields[] = [];
    const model = new MeaningModel(MEANINGS);
    const notes = collection({ embed: model.embed, logger: { warn: (_, fields) => lines.push(fields) } });
    await notes.add(NOTES);
    model.down = true;
    expect(await found(notes, "vehicle pastry")).toEqual(["cake"]);
    await notes.add({ id: "late", text: "The vehicle is late" });
    await notes.update("cake", { text: "A cake is late" });
    expect((await found(notes, "late")).sort()).toEqual(["cake", "late"]);
    expect(lines).toEqual(Array(4).fill({ code: "EMBEDDING_FAILED", error: "TypeError" }));
    model.down = false;
    const progress = vi.fn();
    expect(await notes.reembed({ onProgress: progress })).toBe(2);
    expect(progress).toHaveBeenCalledWith(2, 2);
    expect((await found(notes, "automobile", 3)).sort()).toEqual(["car", "late", "quick"]);
    expect(await notes.reembed()).toBe(0);
  });

  it("gives all texts but one that is too long for the model their vectors, also after a change of model", async () => {
    const path = tempFile();
    const LONG = { id: "long", text: `A vehicle ${"far ".repeat(100)}` };
    const limited = (model: MeaningModel) => async (texts: readonly string[]) => {
      if (texts.some(({ length }) => length > 100)) throw new RangeError("too many tokens");
      return model.embed(texts);
    };
    const log = vi.fn();
    const first = collection({ path, embed: limited(new MeaningModel(MEANINGS)), logger: { warn: log } });
    await first.add([LONG, ...NOTES]);
    expect(log.mock.calls).toEqual([
      [expect.stringContaining("refuses a text"), { code: "EMBEDDING_FAILED", error: "RangeError" }],
    ]);
    expect((await found(first, "car", 3)).slice(0, 2).sort()).toEqual(["car", "quick"]);
    await expect(first.reembed()).rejects.toThrow("too many tokens");
    await first.add(Array.from({ length: 252 }, (_, i) => ({ id: `${i}`, text: `Oven ${i}` })));
    // Alone in the last part.
    await first.add({ ...LONG, id: "last" });
    await first.close();
    const second = collection({ path, embed: limited(new MeaningModel([...MEANINGS, ["wins"]])) });
    await expect(second.search({ text: "car" })).rejects.toMatchObject({ code: "EMBEDDING_MISMATCH" });
    const progress = vi.fn();
    await expect(second.reembed({ onProgress: progress })).rejects.toThrow("too many tokens");
    expect(progress.mock.calls).toEqual(Array(2).fill([255, 257]));
    expect(vectorsIn(path)).toBe(255);
    expect((await found(second, "car", 2)).sort()).toEqual(["car", "quick"]);
    await second.delete(["long", "last"]);
    expect(await second.reembed()).toBe(0);
  });

  it("keeps what it has made anew when the model goes down, and asks that model no more than twice", async () => {
    const model = new MeaningModel(MEANINGS);
    const embed = vi.fn(model.embed);
    const notes = collection({ embed, logger: { warn() {} } });
    model.down = true;
    await notes.add(Array.from({ length: 600 }, (_, i) => `car ${i}`));
    model.down = false;
    embed.mockClear();
    const onProgress = () => {
      model.down = true;
    };
    await expect(notes.reembed({ onProgress })).rejects.toThrow("the model is down");
    expect(embed).toHaveBeenCalledTimes(3);
    model.down = false;
    expect(await notes.reembed()).toBe(344);
  });

  it("makes vectors anew for a model that changed in use", async () => {
    let model = new MeaningModel(MEANINGS);
    const notes = collection({ embed: (texts: readonly string[]) => model.embed(texts as string[]) });
    await notes.add(NOTES);
    expect((await found(notes, "vehicle", 2)).sort()).toEqual(["car", "quick"]);
    model = new MeaningModel([["car"]]);
    await expect(notes.search({ text: "car" })).rejects.toMatchObject({ code: "EMBEDDING_MISMATCH" });
    expect(await notes.reembed()).toBe(3);
    expect(await notes.search({ text: "car" })).toHaveLength(3);
  });

  it.each([
    ["of another length", [["car"]]],
    ["of the same length", [["oven", "cake"], ["wash"], ["the", "needs"], ["car"]]],
  ])("refuses another model %s until the vectors are made anew", async (_, meanings) => {
    const path = tempFile();
    const first = localMemories({ path, embed: new MeaningModel(MEANINGS).embed });
    await first.add(NOTES);
    await first.archive("quick");
    await first.close();
    const notes = collection({ path, embed: new MeaningModel(meanings).embed });
    for (const call of [
      () => notes.search({ text: "car" }),
      () => notes.add("x"),
      () => notes.update("car", { text: "x" }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: "EMBEDDING_MISMATCH",
        message: expect.stringContaining("reembed()"),
      });
    }
    expect(await notes.size()).toBe(2);
    expect(await notes.reembed()).toBe(3);
    await notes.restore("quick");
    expect(await found(notes, "automobile needs")).toContain("quick");
    await notes.add("x");
    expect(await notes.size()).toBe(4);
  });

  it("searches again after vectors could not be read once", async () => {
    const path = tempFile();
    const notes = collection({ path, embed: new MeaningModel(MEANINGS).embed });
    await notes.add(NOTES);
    const db = new DatabaseSync(path);
    const { value } = db.prepare("SELECT value FROM vector WHERE record = 3").get() as { value: Uint8Array };
    const put = db.prepare("UPDATE vector SET value = ? WHERE record = 3");
    put.run(Uint8Array.of(1, 2, 3));
    await expect(notes.search({ text: "pastry" })).rejects.toThrow();
    put.run(value);
    expect(await found(notes, "pastry", 1)).toEqual(["cake"]);
    db.close();
  });

  it("finds the same while it drops the vectors of many deleted memories, and removes these from its file", async () => {
    const path = tempFile();
    const notes = collection({ path, embed: new MeaningModel(MEANINGS).embed });
    const gone = await notes.add(Array.from({ length: 4_200 }, (_, i) => `automobile ${i}`));
    await notes.add([
      { id: "means it", text: "A vehicle" },
      { id: "says it", text: "Fuel for the car and the cake" },
    ]);
    await notes.search({ text: "car fuel" });
    await notes.delete(gone);
    for (let i = 0; i < 3; i++) expect(await found(notes, "car fuel", 1)).toEqual(["says it"]);
    expect(vectorsIn(path)).toBe(2);
  });

  it("compares no request with the vector of a text that was replaced while the model was down", async () => {
    const model = new MeaningModel(MEANINGS);
    const notes = collection({ embed: model.embed });
    await notes.add([...NOTES, "Answer the tenant", "Write the invoice"]);
    await notes.search({ text: "pastry" });
    model.down = true;
    await notes.update("cake", { text: "Rent of rooms" });
    model.down = false;
    const request = "Rent of rooms, of a car and for pastry";
    const first = await found(notes, request, 1);
    expect(first).toEqual((await found(notes, request, 3)).slice(0, 1));
  });

  it("embeds texts of a collection without vectors when they are added again", async () => {
    const path = tempFile();
    const plain = localMemories({ path });
    await plain.add(NOTES);
    await plain.close();
    const notes = collection({ path, embed: new MeaningModel(MEANINGS).embed });
    await notes.add(NOTES);
    expect((await found(notes, "vehicle", 2)).sort()).toEqual(["car", "quick"]);
  });

  it("gives texts of a collection without vectors theirs", async () => {
    const path = tempFile();
    const plain = localMemories({ path });
    await plain.add(NOTES);
    await expect(plain.reembed()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const { embed } = new MeaningModel(MEANINGS);
    // Another program, without a model, changes a text while its vector is made.
    const changing = async (texts: readonly string[]) => {
      if (texts.length > 1) await plain.update("cake", { text: "An automobile" });
      return embed(texts);
    };
    const notes = collection({ path, embed: changing });
    expect(await found(notes, "vehicle")).toEqual([]);
    expect(await notes.reembed()).toBe(4);
    await plain.close();
    expect((await found(notes, "vehicle", 3)).sort()).toEqual(["cake", "car", "quick"]);
  });

  it.each([
    ["too few vectors", async () => [], "0 for 2 texts"],
    ["the vector of one text", async () => [1, 2, 3] as never, "3 for 2 texts"],
    ["nothing", async () => undefined as never, "none for 2 texts"],
    ["no vector for a text", async () => [[1], null] as never, "2 for 2 texts"],
    ["vectors of different lengths", async (texts: string[]) => texts.map((_, i) => Array(i + 1).fill(1)), "2 for 2"],
    ["a value that is no number", async (texts: string[]) => texts.map(() => [Number.NaN]), "not finite"],
  ])("keeps texts without vectors when the model returns %s, and says what is wrong", async (_, embed, says) => {
    const log = vi.fn();
    const notes = collection({ embed, logger: { warn: log } });
    await notes.add(NOTES.slice(0, 2));
    expect(await found(notes, "automobile")).toEqual(["car", "quick"]);
    expect(log.mock.calls[0]).toEqual([
      expect.stringContaining(says),
      { code: "EMBEDDING_FAILED", error: "QavrError", reason: "INVALID_VECTOR" },
    ]);
  });
});
