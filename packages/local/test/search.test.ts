import type { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LocalMemories } from "../src/index.js";
import { lexicalSearch } from "../src/lexical-search.js";
import type { MemoryTables } from "../src/memory-tables.js";
import { collection, found } from "./support/collections.js";

afterEach(() => void vi.useRealTimers());

describe("the counts of words that a search remembers", () => {
  it("are 50,000 at most, after any number of requests", () => {
    let counted = 0;
    const rows = {
      get: () => {
        counted += 1;
        return { texts: 1, list: "[]" };
      },
    };
    const tables = { size: () => ({ texts: 100, words: 1_000 }) };
    const { search } = lexicalSearch(
      { prepare: () => rows } as unknown as DatabaseSync,
      tables as unknown as MemoryTables,
    );
    const ask = (request: number): number => {
      counted = 0;
      search(1, Array.from({ length: 50 }, (_, i) => `w${request}x${i}`).join(" "), 1, undefined);
      return counted;
    };
    const [unknown, known] = [ask(0), ask(0)];
    expect(unknown).toBe(known + 50);
    for (let request = 1; request <= 1_000; request++) ask(request);
    expect([ask(1_000), ask(0)]).toEqual([known, unknown]);
  });
});

describe("a search by words", () => {
  it("finds texts with any of the words, best first, with similarities in [0, 1]", async () => {
    const notes = collection();
    await notes.add([
      { id: "permissions", text: "When a deploy fails with EACCES, fix the permissions of the folder." },
      { id: "cache", text: "When a deploy fails, clear the cache." },
      { id: "ann", text: "Call Ann on Mondays." },
    ]);
    const hits = await notes.search({ text: "deploy: EACCES!?" });
    expect(hits.map(({ id }) => id)).toEqual(["permissions", "cache"]);
    for (const { similarity } of hits) {
      expect(similarity).toBeGreaterThanOrEqual(0);
      expect(similarity).toBeLessThanOrEqual(1);
    }
    expect(await found(notes, "deploy EACCES", 1)).toEqual(["permissions"]);
    // Equal ones come in the order of adding.
    await notes.add(["Call Bob on Fridays.", "Call Eve on Sundays."]);
    expect((await notes.search({ text: "Eve Bob" })).map(({ text }) => text.slice(5, 8))).toEqual(["Bob", "Eve"]);
    expect(await found(notes, "nothing about that")).toEqual([]);
    expect(await found(notes, "?! \0")).toEqual([]);
  });

  it.each([
    ["Japanese", "Chatworkの新着メッセージを確認して", "Chatworkモニタリングの手順。新着メッセージの確認と振り分け"],
    ["Chinese", "如何重置密码", "用户可以在设置页面重置密码"],
    ["Thai", "วิธีรีเซ็ตรหัสผ่าน", "คุณสามารถรีเซ็ตรหัสผ่านได้ที่หน้าการตั้งค่า"],
    ["accents", "cafe muller ECOLE", "Le café Müller près de l'école"],
    ["capitals of another length", "STRASSE ISIK", "Straße ışık"],
    ["Arabic without its vowel points", "شكرا", "شُكْرًا"],
    ["Hebrew without its vowel points", "שלום", "שָׁלוֹם"],
    ["full width and ligatures", "file ABC", "ﬁle ＡＢＣ"],
    ["Hindi", "पासवर्ड बदलें", "अपना पासवर्ड सेटिंग में बदलें"],
    ["emoji", "🦆", "party🦆tonight"],
    ["a flag", "🇩🇪", "Invoices for🇩🇪🇫🇷need a tax number"],
    ["a word beside an emoji", "party", "party🦆tonight"],
    ["an emoji with another choice of its colour", "1\u20e3", "Step 1\ufe0f\u20e3: wait"],
    ["a word with a soft hyphen", "Fehlerbehebung", "Zur Fehler\u00adbehebung neu starten"],
    ["a word with a joiner", "ශ්රී", "ශ්\u200dරී ලංකා"],
  ])("P13: finds %s", async (_, request, text) => {
    const notes = collection();
    await notes.add([
      { id: "it", text },
      { id: "other", text: "Something else altogether" },
    ]);
    expect(await found(notes, request)).toEqual(["it"]);
  });

  it("tells emoji apart that are shown in colour", async () => {
    const notes = collection();
    await notes.add(["⚠\ufe0f the disk is full", "❤\ufe0f from a customer", "Something else altogether"]);
    expect((await notes.search({ text: "❤\ufe0f" })).map(({ text }) => text)).toEqual(["❤\ufe0f from a customer"]);
  });

  it.each([
    ["accents", "\u0315\u0300".repeat(495_000)],
    [
      "accents that soft hyphens part",
      ["\u1dc0", "\u1dca"].map((one) => `${one.repeat(30)}\u00ad`.repeat(15_500)).join(""),
    ],
  ])("finds a text whose word is followed by a megabyte of %s before the test's timeout", async (_, accents) => {
    const notes = collection();
    await notes.add({ id: "accents", text: `deploy${accents} fails` });
    expect(await found(notes, "fails")).toEqual(["accents"]);
  });

  it("leaves out words of very many texts, unless the request has no other", async () => {
    const notes = collection();
    await notes.add(Array.from({ length: 4_100 }, (_, i) => ({ id: `n${i}`, text: `deploy ${i}` })));
    await notes.add({ id: "rare", text: "deploy the mailer" });
    expect(await found(notes, "deploy", 3)).toEqual(["n0", "n1", "n2"]);
    expect(await found(notes, "deploy the mailer", 3)).toEqual(["rare"]);
    expect(await found(notes, "deploy elsewhere", 1)).toEqual(["n0"]);
  });

  it("has similarities in [0, 1] after deletions, too", async () => {
    const notes = collection();
    const ids = await notes.add(Array.from({ length: 100 }, (_, i) => `deploy ${i}`));
    await notes.search({ text: "deploy" });
    await notes.delete(ids.slice(0, 5));
    const hits = await notes.search({ text: "deploy" });
    expect(hits).toHaveLength(10);
    for (const { similarity } of hits) expect(similarity >= 0 && similarity <= 1).toBe(true);
  });

  it("has the same similarities as if texts that were deleted, archived or replaced had never been there", async () => {
    const long = "one long text of many words that others replace";
    const [notes, fresh] = [collection(), collection()];
    await notes.add(["deleted", "archived", "added again", "updated"].map((id) => ({ id, text: `${id}: ${long}` })));
    await notes.delete("deleted");
    await notes.archive("archived");
    await notes.add({ id: "added again", text: "clear the cache" });
    await notes.update("updated", { text: "call Ann" });
    await fresh.add(["clear the cache", "call Ann", "restart it"]);
    await notes.add("restart it");
    const similarities = async (of: LocalMemories) =>
      (await of.search({ text: "clear cache" })).map(({ similarity }) => similarity);
    expect(await similarities(notes)).toEqual(await similarities(fresh));
    expect(await similarities(fresh)).toEqual([expect.any(Number)]);
  });

  it("finds a word that no text had at the last search, and counts words anew while texts are added", async () => {
    const [notes, other] = [collection(), collection()];
    await notes.add(Array.from({ length: 30 }, (_, i) => `deploy ${i}`));
    expect(await notes.search({ text: "mailer" })).toEqual([]);
    await notes.add({ id: "late", text: "the mailer" });
    expect(await found(notes, "mailer")).toEqual(["late"]);
    for (const each of [notes, other]) await each.add(Array.from({ length: 30 }, (_, i) => `mailer ${i}`));
    await other.add([...Array.from({ length: 30 }, (_, i) => `deploy ${i}`), "the mailer"]);
    const best = async (searched: LocalMemories) => (await searched.search({ text: "mailer deploy" }))[0]?.similarity;
    expect(await best(notes)).toBe(await best(other));
  });

  it("follows texts that others have replaced while their number stayed the same", async () => {
    vi.useFakeTimers();
    const notes = collection();
    const searched = () => found(notes, "deploy cache", 1);
    await notes.add(Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, text: i === 0 ? "the cache" : "a deploy" })));
    expect(await searched()).toEqual(["0"]);
    await notes.add(Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, text: i === 1 ? "a deploy" : "the cache" })));
    vi.advanceTimersByTime(60_000);
    expect(await searched()).toEqual(["1"]);
  });

  it("looks in the task that led to a memory, too, until that is replaced", async () => {
    const claims = collection();
    await claims.add({ id: "c", text: "The orders table is partitioned by day.", query: "monthly revenue" });
    expect(await found(claims, "revenue")).toEqual(["c"]);
    expect(await claims.update("c", { text: "The orders table is partitioned by hour." })).toMatchObject({
      text: "The orders table is partitioned by hour.",
      query: "monthly revenue",
    });
    await claims.archive("c");
    await claims.restore("c");
    expect([await found(claims, "revenue"), await found(claims, "hour")]).toEqual([["c"], ["c"]]);
    await claims.add({ id: "c", text: "The orders table is partitioned by hour." });
    expect(await claims.get("c")).not.toHaveProperty("query");
    expect(await found(claims, "revenue")).toEqual([]);
  });

  it("compares metadata by value and type", async () => {
    const notes = collection();
    const values = [1, "1", true, null, "a'\"%", 1.5];
    await notes.add(
      values.map((value, i) => ({ id: `n${i}`, text: "note", metadata: { 'k"ey': value, deep: { x: 1 } } })),
    );
    for (const [i, value] of values.entries()) {
      const hits = await notes.search({ text: "note", filter: { 'k"ey': value } });
      expect(hits.map(({ id }) => id)).toEqual([`n${i}`]);
    }
    expect(await notes.search({ text: "note", filter: { 'k"ey': 1, missing: 1 } })).toEqual([]);
    expect(await notes.search({ text: "note", filter: {} })).toHaveLength(6);
  });

  it("reads 64 words of a request of 100,000, each once, and none behind 4,096 characters", async () => {
    const notes = collection();
    await notes.add(["cache", "term62", "term63"].map((text) => ({ id: text, text })));
    const request = `cache ${Array.from({ length: 100_000 }, (_, i) => `term${i}`).join(" ")}`;
    expect(await found(notes, request)).toEqual(["cache", "term62"]);
    expect(await found(notes, `${"cache ".repeat(682)}term62 term63`)).toEqual(["cache"]);
    expect(await found(notes, `${"cache ".repeat(600)}term62`)).toEqual(["cache", "term62"]);
  });
});

describe("namespaces of one file", () => {
  const HOSTILE = ["default", "a", "ab", "A", "%", "_", "a\0", "s1", "'; DROP TABLE record;--", "аb"];

  it("never see each other's memories, whatever their names", async () => {
    const root = collection();
    for (const name of HOSTILE)
      await root.of(name).add({ id: "same", text: `a secret of ${name}`, metadata: { name } });
    for (const name of HOSTILE) {
      const own = root.of(name);
      expect(await own.size()).toBe(1);
      expect((await own.search({ text: "secret", limit: 100 })).map(({ metadata }) => metadata.name)).toEqual([name]);
      expect(
        (await own.search({ text: "secret s1 s2", filter: { name } })).map(({ metadata }) => metadata.name),
      ).toEqual([name]);
      expect((await own.list()).memories.map(({ metadata }) => metadata.name)).toEqual([name]);
    }
    await root.of("a").delete("same");
    await root.of("ab").archive("same");
    await root.of("A").update("same", { text: "changed" });
    expect(await root.of("a").get("same")).toBeUndefined();
    expect((await root.of("%").get("same"))?.text).toBe("a secret of %");
    expect(await root.of("nobody").search({ text: "secret" })).toEqual([]);
    expect(await root.of("a").of("%").size()).toBe(1);
  });

  it("never change each other's similarities", async () => {
    const search = async (notes: LocalMemories) =>
      (await notes.search({ text: "clear the cache" })).map(({ id, similarity }) => [id, similarity]);
    const texts = ["clear the cache of the worker", "clear the queue", "restart the mailer"];
    const [alone, shared] = [collection(), collection()];
    for (const notes of [alone, shared]) await notes.add(texts);
    await shared.of("other").add(["cache", "cache and queue", "a long text about the cache, the mailer and the queue"]);
    expect(await search(shared)).toEqual(await search(alone));
  });
});
