import { describe, expect, it } from "vitest";
import { hasKeyword, keywordsOf } from "../src/procedures/keywords.js";
import { fittedTexts } from "../src/procedures/text-budget.js";
import { markdown, proceduresOf } from "./support/procedures.js";

const CHATWORK = "Chatworkモニタリングの手順。新着メッセージの確認と振り分け";

describe("a search for procedures", () => {
  it("P7: says by which tier it found each, keywords first", async () => {
    const embed = async (texts: readonly string[]) =>
      texts.map((text) => (/roll back|undo a release/i.test(text) ? [1, 0] : [0, 1]));
    const { procedures } = proceduresOf(
      {
        "procedures/deploy.md": markdown({ description: "Shipping the shop, 「release train」" }, "Ship.\n"),
        "procedures/notes.md": markdown({ description: "Write notes about what went out with the train" }, "Write.\n"),
        "procedures/undo.md": markdown({ description: "Roll back" }, "Go back.\n"),
      },
      { embed },
    );
    const { procedures: found } = await procedures.search({ text: "undo a release of the Release Train" });
    expect(found.map(({ id, matchedBy }) => `${id} ${matchedBy}`)).toEqual([
      "procedure:undo keyword",
      "procedure:deploy keyword",
      "procedure:notes words",
    ]);
    const vector = await procedures.search({ text: "undo a release" });
    expect(vector.procedures.map(({ matchedBy }) => matchedBy)).toContain("keyword");
  });

  it("P7: finds by meaning alone what shares no word", async () => {
    const embed = async (texts: readonly string[]) =>
      texts.map((text) => (/revert|previous/i.test(text) ? [1, 0] : [0, 1]));
    const { procedures } = proceduresOf(
      { "procedures/a.md": "Go to the previous state.\n", "procedures/b.md": "Paint.\n" },
      { embed },
    );
    const [first] = (await procedures.search({ text: "revert" })).procedures;
    expect([first?.id, first?.matchedBy]).toEqual(["procedure:a", "vector"]);
  });

  it("P8: finds a skill and a procedure of the same name independently, and can be limited to a kind", async () => {
    const { procedures } = proceduresOf({
      "procedures/deploy.md": "Deploy one.\n",
      "skills/deploy/SKILL.md": "Deploy two.\n",
    });
    const ids = async (kind?: "skill") =>
      (await procedures.search({ text: "deploy", kind })).procedures.map(({ id }) => id).sort();
    expect(await ids()).toEqual(["procedure:deploy", "skill:deploy"]);
    expect(await ids("skill")).toEqual(["skill:deploy"]);
  });

  it("P12: finds by keywords and words while the embedding model fails, and nothing for an empty request", async () => {
    const logger = { warn() {}, info() {}, error() {}, debug() {} };
    const embed = () => Promise.reject(new Error("The model is down."));
    const { procedures } = proceduresOf({ "procedures/deploy.md": "Run the migrations.\n" }, { embed, logger });
    expect((await procedures.search({ text: "migrations" })).procedures.map(({ matchedBy }) => matchedBy)).toEqual([
      "words",
    ]);
    expect((await procedures.search({ text: "deploy" })).procedures.map(({ matchedBy }) => matchedBy)).toEqual([
      "keyword",
    ]);
    expect(await procedures.search({ text: " " })).toEqual({ procedures: [], episode: "" });
    expect(procedures.engine.health().openEpisodes).toBe(0);
  });

  it("P15: finds by words what could not be embedded when it was written", async () => {
    let isDown = true;
    const logger = { warn() {}, info() {}, error() {}, debug() {} };
    const embed = async (texts: readonly string[]) => {
      if (isDown) throw new Error("The model is down.");
      return texts.map(() => [1, 0]);
    };
    const { procedures } = proceduresOf({ "procedures/a.md": "Run the migrations.\n" }, { embed, logger });
    expect(await procedures.list()).toHaveLength(1);
    isDown = false;
    expect((await procedures.search({ text: "migrations" })).procedures).toHaveLength(1);
  });

  it("P13: finds Japanese procedures by Japanese requests, and words of other scripts beside them", async () => {
    const { procedures } = proceduresOf({
      "procedures/p1.md": markdown({ description: CHATWORK }, "開く。\n"),
      "procedures/git.md": markdown({ description: "git" }, "コミットする。\n"),
    });
    const [first] = (await procedures.search({ text: "Chatworkの新着メッセージを確認して" })).procedures;
    expect([first?.id, first?.matchedBy]).toEqual(["procedure:p1", "words"]);
    expect((await procedures.search({ text: "gitを使って" })).procedures[0]).toMatchObject({
      id: "procedure:git",
      matchedBy: "keyword",
    });
    expect(hasKeyword("a digital clock", ["git"])).toBe(false);
    // "Service" and "save" in Hindi: a vowel sign is part of its word, the colour of an emoji is not.
    expect(hasKeyword("सेवा बंद है", ["सेव"])).toBe(false);
    expect(hasKeyword("⚠\ufe0fसेव करो", ["सेव"])).toBe(true);
  });

  it.each([
    ["İade, sipariş iptali", "iade istiyorum"],
    ["ışık, lamba", "IŞIK AÇMA"],
    ["Straße, Weg", "HAUPT STRASSE"],
  ])("P13: finds the keywords of %s in any case", (description, request) => {
    expect(hasKeyword(request, keywordsOf({ name: "x1", description, tags: [] }))).toBe(true);
  });

  it.each([
    ["部署失败，清除缓存。重启", ["部署失败", "清除缓存", "重启"]],
    ["فشل النشر، امسح الذاكرة۔", ["فشل النشر", "امسح الذاكرة"]],
    ["परिनियोजन विफल। कैश साफ़ करें", ["परिनियोजन विफल", "कैश साफ़ करें"]],
  ])("P13: cuts %s at the commas and full stops of its script", (description, keywords) => {
    const found = keywordsOf({ name: "x1", description, tags: [] });
    expect(found).toEqual(["x1", ...keywords.map((keyword) => keyword.normalize("NFKC"))]);
  });

  it("P13: takes a text with the commas of any script for tags", async () => {
    const { procedures } = proceduresOf({ "procedures/a.md": "---\ndescription: x\ntags: 部署，缓存، نشر\n---\nb\n" });
    expect((await procedures.list())[0]?.tags).toEqual(["部署", "缓存", "نشر"]);
  });

  it("finds a keyword in a request with 1,200,000 accents before the test's timeout", () => {
    expect(hasKeyword(`deploy it${"\u0315\u0300".repeat(600_000)}`, ["deploy"])).toBe(true);
  });

  it("P13: takes no fragment of stop words alone for a keyword", () => {
    expect(keywordsOf({ name: "a", description: "use it, when you can, rotate keys", tags: [] })).toEqual([
      "rotate keys",
    ]);
    expect(keywordsOf({ name: "x1", description: "「新着」と「use it」", tags: ["Ops"] })).toEqual([
      "x1",
      "ops",
      "新着",
    ]);
  });

  it("puts what helped first, and what failed last", async () => {
    const { procedures } = proceduresOf({
      "procedures/a.md": "Fix the deploy with care.\n",
      "procedures/b.md": "Fix the deploy with care.\n",
    });
    const order = async () => (await procedures.search({ text: "fix the deploy" })).procedures.map(({ id }) => id);
    expect(await order()).toEqual(["procedure:a", "procedure:b"]);
    for (let run = 0; run < 5; run++) {
      const { episode } = await procedures.search({ text: "fix the deploy" });
      await procedures.report("procedure:a", { success: false, episode });
      await procedures.report("procedure:b", { success: true, episode });
    }
    expect(await order()).toEqual(["procedure:b", "procedure:a"]);
  });
});

describe("a budget", () => {
  it("P9: skips what does not fit, ends a text before a heading, and counts only what was shown", async () => {
    const long = `# Deploy\n\nShort.\n\n## Details\n\n${"word ".repeat(400)}\n`;
    const { engine, procedures } = proceduresOf({
      "procedures/deploy.md": long,
      "procedures/whole.md": `deploy deploy ${"x".repeat(2_000)}\n`,
      "procedures/tiny.md": "Tiny deploy.\n",
    });
    const { procedures: found, episode } = await procedures.search({ text: "deploy", budget: 20 });
    expect(found.map(({ id, text, truncated, tokens }) => ({ id, text, truncated, tokens }))).toEqual(
      expect.arrayContaining([
        { id: "procedure:deploy", text: "# Deploy\n\nShort.", truncated: true, tokens: 4 },
        { id: "procedure:tiny", text: "Tiny deploy.\n", truncated: false, tokens: 4 },
      ]),
    );
    expect(found).toHaveLength(2);
    const shown = (await engine.explain(episode))?.exposures[0]?.items.map(({ id }) => id.split("@")[0]);
    expect(shown?.sort()).toEqual(["procedure:deploy", "procedure:tiny"]);
    expect(await procedures.get("procedure:whole")).toMatchObject({ shown: 0 });
  });

  it("P9: is counted by the tokenizer that is given, each call with its own", async () => {
    const { procedures } = proceduresOf(
      { "procedures/a.md": "one two three\n" },
      { countTokens: (text) => text.split(/\s+/).length },
    );
    expect((await procedures.search({ text: "two", budget: 4 })).procedures).toHaveLength(1);
    expect((await procedures.search({ text: "two", budget: 3 })).procedures).toEqual([]);
    await expect(procedures.search({ text: "two", budget: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it.each([
    ["a promise", async () => 3],
    ["NaN", () => Number.NaN],
    ["nothing", () => undefined],
  ])("P9: refuses a tokenizer that returns %s, which would leave out every text", async (_, countTokens) => {
    const { procedures } = proceduresOf(
      { "procedures/a.md": "one two three\n" },
      { countTokens: countTokens as never },
    );
    await expect(procedures.search({ text: "two" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("P9: takes no heading in code for a place to end, and no title without text", () => {
    const text = "# Title\n\n```md\n# no heading\n```\n\n# Next\n\nmore";
    expect(fittedTexts([text], 9, (part) => Math.ceil(part.length / 4))).toMatchObject([
      { text: "# Title\n\n```md\n# no heading\n```" },
    ]);
    expect(fittedTexts([text], 5, (part) => Math.ceil(part.length / 4))).toEqual([]);
  });
});
