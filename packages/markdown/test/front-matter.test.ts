import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { validate } from "skills-ref";
import { describe, expect, it } from "vitest";
import { readFrontMatter, withMetadata } from "../src/procedures/front-matter.js";
import { parseProcedure } from "../src/procedures/procedure-file.js";
import { markdown, proceduresOf } from "./support/procedures.js";

const many = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("");

/** Front matter that a parser must not follow, by name. */
const ATTACKS: Readonly<Record<string, string>> = {
  "an alias bomb": `---\na: &a [x, x]\n${many(30, (i) => `b${i}: [*a, *a]\n`)}---\n`,
  "2,000 levels of brackets": `---\na: ${"[".repeat(2_000)}${"]".repeat(2_000)}\n---\n`,
  "4,000 nested lists": `---\n${"- ".repeat(4_000)}\n---\n`,
  "60,000 keys": `---\n${many(60_000, (i) => `k${i}: 1\n`)}---\n`,
  "1,000 keys in braces": `---\na: {${many(1_000, (i) => `k${i}, `)}}\n---\n`,
  "merge keys": "---\na: &a {x: 1}\nb:\n  <<: *a\n---\n",
  "duplicate keys": "---\nname: a\nname: b\n---\n",
  "a function": "---\na: !!js/function 'function () { globalThis.pwned = 1 }'\n---\n",
  "a regular expression": "---\na: !!js/regexp /(a+)+$/\n---\n",
  "a list": "---\n- a\n---\n",
  tabs: "---\na:\n\tb: 1\n---\n",
  "20 KB of text": `---\ndescription: ${"x".repeat(20_000)}\n---\n`,
};

describe("front matter", () => {
  it.each(Object.entries(ATTACKS))("P4: %s is refused, and the body is kept", async (_, matter) => {
    const { procedures } = proceduresOf({ "procedures/deploy-shop.md": `${matter}Body.\n` });
    const [only] = await procedures.list();
    expect(only?.findings.map(({ code }) => code)).toEqual(["FRONT_MATTER_UNREADABLE", "NO_DESCRIPTION"]);
    expect(only?.description).toBe("deploy shop");
    expect((await procedures.load("procedure:deploy-shop")).text).toBe("Body.\n");
    expect(globalThis).not.toHaveProperty("pwned");
  });

  it("P4: of another language is text, and no key reaches a prototype", () => {
    expect(parseProcedure("procedures/a.md", "---js\nglobalThis.pwned = 1\n---\n").body).toContain("pwned");
    const { fields } = readFrontMatter(
      "---\n__proto__:\n  polluted: true\nconstructor: {prototype: {polluted: true}}\n---\n",
    );
    expect([...fields.keys()]).toEqual(["__proto__", "constructor"]);
    expect({}).not.toHaveProperty("polluted");
    expect(globalThis).not.toHaveProperty("pwned");
  });

  it("P4: with values of a wrong type or range has the defaults", () => {
    const defaults = { successes: 0, failures: 0, confidence: 0.5, version: 1 };
    const stated = (fields: Readonly<Record<string, string>>) =>
      parseProcedure("procedures/a.md", markdown(fields, "")).stated;
    expect(stated({ success_count: "-1", failure_count: ".nan", confidence: "1.7", version: "[2]" })).toEqual(defaults);
    expect(stated({ success_count: '"3"', failure_count: "x", confidence: "null", version: "2.5" })).toEqual({
      ...defaults,
      successes: 3,
    });
    expect(parseProcedure("procedures/a.md", markdown({ description: "[x]", tags: "{a: b}" }, ""))).toMatchObject({
      description: "a",
      tags: [],
    });
  });

  it("P1: states counts at the top level or under metadata; they are read and never believed", async () => {
    const fields = {
      description: "Deploys",
      tags: "[web, shop]",
      success_count: "7",
      failure_count: "1",
      confidence: "0.88",
      version: "3",
    };
    const { procedures } = proceduresOf({ "procedures/deploy.md": markdown(fields, "Body.\n") });
    const stated = { successes: 7, failures: 1, confidence: 0.88, version: 3 };
    expect(await procedures.get("procedure:deploy")).toMatchObject({
      stated,
      tags: ["web", "shop"],
      successes: 0,
      confidence: 0.5,
    });
  });

  it("P3: may be missing", async () => {
    const { procedures } = proceduresOf({ "procedures/chatwork-monitoring_flow.md": "Look for new messages.\n" });
    const [only] = await procedures.list();
    expect(only).toMatchObject({ description: "chatwork monitoring flow", confidence: 0.5, successes: 0, failures: 0 });
    expect(only?.findings.map(({ code }) => code)).toEqual(["NO_FRONT_MATTER", "NO_DESCRIPTION"]);
  });

  it("P5: without a description is a finding, and the words of the file name stand for it", async () => {
    const { procedures } = proceduresOf({ "procedures/rotate-keys.md": markdown({ license: "MIT" }, "Body.\n") });
    const [only] = await procedures.list();
    expect([only?.description, only?.findings.map(({ code }) => code)]).toEqual(["rotate keys", ["NO_DESCRIPTION"]]);
  });

  it("P2: is written without a change of any other byte, whatever its style, line ends and body", () => {
    const value = fc.constantFrom(
      "1",
      '"a: b"',
      "'it''s'",
      "|\n    block\n    text",
      ">-\n    folded",
      "[a, b]",
      "",
      "日本語 # no",
      "x # comment",
    );
    const others = fc.uniqueArray(fc.tuple(fc.constantFrom("license", "über", "x-1", "名前", "author"), value), {
      selector: ([key]) => key,
    });
    const metadata = fc.constantFrom(
      "",
      "metadata:\n",
      "metadata: {}\n",
      "metadata: {a: b} # c\n",
      "metadata:\n    # first\n    a: b\n    qavr-a: old # c\n",
      "metadata:\n  qavr-a:\n  z: |\n    t\n\n",
    );
    const body = fc.constantFrom("", "---\nrule\n---\n", "```yaml\n---\n```\n", "日本語「引用」\n\n\n", "no line end");
    const file = fc.record({
      bom: fc.boolean(),
      crlf: fc.boolean(),
      comment: fc.constantFrom("", "# top\n"),
      before: others,
      metadata,
      body,
      hasMatter: fc.boolean(),
    });
    fc.assert(
      fc.property(file, ({ bom, crlf, comment, before, metadata: own, body: text, hasMatter }) => {
        const matter = `---\n${comment}${before.map(([key, written]) => `${key}: ${written}\n`).join("")}${own}---\n`;
        const plain = `${hasMatter ? matter : ""}${hasMatter ? text : text.replace(/^---/, "- -")}`;
        const source = `${bom ? "\uFEFF" : ""}${crlf ? plain.replaceAll("\n", "\r\n") : plain}`;
        const written = withMetadata(source, { "qavr-a": "1", "qavr-b": '日本 "x"' });
        expect(written).toBeDefined();
        const [was, is] = [readFrontMatter(source), readFrontMatter(written as string)];
        expect(is.body).toBe(was.body);
        const without = (fields: ReadonlyMap<string, unknown>) => {
          const { metadata: all, ...rest } = Object.fromEntries(fields);
          return {
            rest,
            own: [...((all as Map<string, unknown>) ?? [])].filter(([key]) => !String(key).startsWith("qavr-")),
          };
        };
        expect(without(is.fields)).toEqual(without(was.fields));
        const entries = is.fields.get("metadata") as Map<string, unknown>;
        expect([entries.get("qavr-a"), entries.get("qavr-b")]).toEqual(["1", '日本 "x"']);
        // Every line that was there is there still, but for the ones of the fields written.
        const isOther = (line: string): boolean => !/qavr-|^metadata/.test(line) && line.trim() !== "---";
        const linesOf = (all: string): readonly string[] =>
          all
            .replace(/^\uFEFF/, "")
            .split("\n")
            .filter(isOther);
        expect(linesOf(written as string)).toEqual(linesOf(source));
        expect((written as string).startsWith("\uFEFF")).toBe(bom);
        expect(withMetadata(written as string, { "qavr-a": "1", "qavr-b": '日本 "x"' })).toBe(written);
      }),
      { numRuns: 300 },
    );
  });
});

describe("stamp()", () => {
  it("P1: writes counts under metadata on request, and the reference validator of Agent Skills accepts the files", async () => {
    const skills = {
      "skills/pdf-forms/SKILL.md": markdown(
        { name: "pdf-forms", description: "Fill forms", license: "MIT", metadata: '{author: "a"}' },
        "Body.\n",
      ),
      "skills/no-matter/SKILL.md": "Only a body.\n",
      "skills/half/SKILL.md": markdown({ name: "half" }, "Body.\n"),
      "skills/日本語/SKILL.md": markdown({ name: "日本語", description: '"手順: 確認"', metadata: "" }, "本文\r\n"),
    };
    const { root, procedures } = proceduresOf(skills);
    await procedures.report("skill:pdf-forms", { success: true });
    const report = await procedures.stamp();
    expect([report.written.length, report.skipped]).toEqual([4, []]);
    expect(readFileSync(join(root, "skills/pdf-forms/SKILL.md"), "utf8")).toMatch(
      /^---\nname: pdf-forms\ndescription: Fill forms\nlicense: MIT\nmetadata: \{qavr-success-count: "1", qavr-failure-count: "0", qavr-confidence: "1", qavr-last-shown: "[^"]+Z", qavr-content: "[0-9a-f]{12}", author: "a"\}\n---\nBody.\n$/,
    );
    for (const path of Object.keys(skills)) expect(await validate(join(root, path, ".."))).toEqual([]);
    expect((await procedures.list()).flatMap(({ findings }) => findings)).toEqual([]);
    expect(await procedures.get("skill:pdf-forms")).toMatchObject({
      successes: 1,
      stated: { successes: 1, confidence: 1 },
    });
    expect((await procedures.stamp()).unchanged).toHaveLength(4);
  });

  it("skips a file that has changed meanwhile, a file that is no UTF-8, and one whose front matter it cannot read", async () => {
    const broken = "---\n{name: a}\n---\nBody.\n";
    const { root, procedures } = proceduresOf({ "procedures/a.md": broken, "procedures/b.md": "---\na: [\n---\n" });
    expect((await procedures.stamp(["procedure:a", "procedure:b"])).skipped.map(({ id }) => id)).toEqual([
      "procedure:a",
      "procedure:b",
    ]);
    expect(readFileSync(join(root, "procedures/a.md"), "utf8")).toBe(broken);
    for (const ids of [["procedure:none"], "procedure:a", null] as never[]) {
      await expect(procedures.stamp(ids)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });
});

/** These fields of a skill after its migration, behind its name and description. */
async function migratedSkill(fields: string): Promise<string> {
  const head = "---\nname: pdf\ndescription: Fills forms\n";
  const { root, procedures } = proceduresOf({ "skills/pdf/SKILL.md": `${head}${fields}---\nText\n` });
  await procedures.migrate();
  const text = readFileSync(join(root, "skills/pdf/SKILL.md"), "utf8");
  return text.slice(head.length, text.indexOf("---\nText"));
}

describe("migrate()", () => {
  it("P6: completes files after a copy of each, says beforehand which, and changes nothing the second time", async () => {
    const old = markdown(
      { name: "pdf", description: "Fill forms", tags: "[a, b]", success_count: "3 # ours", version: "2" },
      "Body.\n",
    );
    const files = {
      "procedures/rotate-keys.md": "Rotate.\n",
      "skills/pdf/SKILL.md": old,
      "procedures/done.md": markdown({ description: "Done" }, "x\n"),
    };
    const { root, procedures } = proceduresOf(files);
    const text = (path: string) => readFileSync(join(root, path), "utf8");
    const before = (await procedures.list()).map(({ memory }) => memory);
    expect((await procedures.migrate({ dryRun: true })).written).toEqual(["procedure:rotate-keys", "skill:pdf"]);
    expect(text("skills/pdf/SKILL.md")).toBe(old);
    expect((await procedures.migrate()).written).toEqual(["procedure:rotate-keys", "skill:pdf"]);
    expect(text("procedures/rotate-keys.md")).toBe('---\ndescription: "rotate keys"\n---\nRotate.\n');
    expect(await validate(join(root, "skills/pdf"))).toEqual([]);
    expect(await procedures.get("skill:pdf")).toMatchObject({ tags: ["a", "b"], findings: [] });
    expect(text("procedures/done.md")).toBe(files["procedures/done.md"]);
    const { globSync } = await import("node:fs");
    const copies = globSync(".qavr/archive/**/*.md", { cwd: root }).sort();
    expect(copies.map(text)).toEqual(["Rotate.\n", old]);
    expect((await procedures.migrate()).written).toEqual([]);
    expect((await procedures.list()).map(({ memory }) => memory)).toEqual(before);
  });

  it("leaves a field where it is if metadata has one of its name", async () => {
    const fields = 'version: 2\nmetadata:\n  version: "1"\n';
    expect(await migratedSkill(fields)).toBe(fields);
  });

  it("keeps numbers as the file has them", async () => {
    expect(await migratedSkill("version: 1.10\nruns: [1.0, 12345678901234567890, x]\n")).toBe(
      'metadata:\n  runs: "1.0, 12345678901234567890, x"\n  version: "1.10"\n',
    );
  });

  it("keeps the maps in a list", async () => {
    expect(await migratedSkill("hooks:\n- on: stop\n  run: a\n- on: start\n")).toBe(
      'metadata:\n  hooks: "{\\"on\\":\\"stop\\",\\"run\\":\\"a\\"}, {\\"on\\":\\"start\\"}"\n',
    );
  });
});
