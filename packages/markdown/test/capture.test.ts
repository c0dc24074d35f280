import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { engineAt, lessonsIn, titles, vault } from "./support/vault.js";

const NEW = { project: "kubelab", title: "Cache", body: "Clear the cache.", date: "2026-01-02" };
const start = (files?: Record<string, string>) => {
  const root = vault(files);
  const text = (): string => readFileSync(join(root, "kubelab/90-lessons.md"), "utf8");
  return { root, lessons: lessonsIn(root, engineAt({ now: 1 })), text };
};

describe("capture", () => {
  it("L3: makes a lesson with a count of 0 and the confidence given, else 0.7", async () => {
    const { lessons, text } = start();
    expect(await lessons.capture(NEW)).toMatchObject({ title: "Cache", reinforcements: 0, confidence: 0.7 });
    expect(await lessons.capture({ ...NEW, title: "WAL", confidence: 0.9 })).toMatchObject({ confidence: 0.9 });
    expect(text()).toBe(
      "# Lessons\n\n### [2026-01-02] Cache\n\nClear the cache.\n\n### [2026-01-02] WAL\n\nconfidence: 0.9\n\nClear the cache.\n",
    );
  });

  it("L3: keeps a confidence near 0, which JavaScript writes with an exponent", async () => {
    const { lessons } = start();
    const { confidence, body } = await lessons.capture({ ...NEW, confidence: 2.5e-7 });
    expect(confidence).toBeCloseTo(2.5e-7, 12);
    expect(body).toBe(NEW.body);
  });

  it("L10: only appends, in the line ends of the file", async () => {
    const before = "\uFEFF# 教訓\r\n\r\n### [2026-01-01] a\r\nbody";
    const { lessons, text } = start({ "kubelab/90-lessons.md": before });
    await lessons.capture(NEW);
    expect(text()).toBe(`${before}\r\n\r\n### [2026-01-02] Cache\r\n\r\nClear the cache.\r\n`);
  });

  it("returns the lesson that was written, also beside others of its title", async () => {
    const { lessons } = start();
    const bodies = ["one", "two\r\nlines", "  three "];
    const captured = await Promise.all(bodies.map((body) => lessons.capture({ ...NEW, body })));
    expect(captured.map(({ body }) => body)).toEqual(["one", "two\nlines", "three"]);
  });

  it("takes texts that were cut inside an emoji", async () => {
    const { lessons } = start();
    const cut = "Ship it 🚀".slice(0, -1);
    const shown = "Ship it \uFFFD";
    expect(await lessons.capture({ ...NEW, title: cut, body: cut })).toMatchObject({ title: shown, body: shown });
    await expect(lessons.capture({ ...NEW, project: cut })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("loses none of many at once, and gives their file one title", async () => {
    const { lessons, text } = start();
    const all = Array.from({ length: 20 }, (_, i) => `lesson ${i}`);
    await Promise.all(all.map((title) => lessons.capture({ ...NEW, title })));
    expect(titles(await lessons.list()).sort()).toEqual([...all].sort());
    expect(text().match(/^# Lessons$/gm)).toHaveLength(1);
  });

  it.each([
    ["leaves the root", { project: "../secrets" }],
    ["is absolute", { project: "/etc" }],
    ["has a drive", { project: "C:" }],
    ["has a backslash", { project: "..\\secrets" }],
    ["is hidden", { project: ".qavr" }],
    ["is where no lessons are searched", { project: "web/node_modules" }],
    ["goes through a link", { project: "linked" }],
    ["goes through a link to its folder", { project: "linked/below" }],
    ["has a title of two lines", { title: "a\n### [2026-01-01] b" }],
    ["has another lesson in its body", { body: "a\n\n### [2026-01-01] b\n\nc" }],
    ["ends in an open code block", { body: "```sh\nrm x" }],
    ["has no body", { body: " " }],
    ["has a date that is none", { date: "2026-02-30" }],
  ])("refuses a lesson that %s, and writes nothing", async (_, change) => {
    const { lessons, text, root } = start();
    await lessons.capture(NEW);
    const before = text();
    const outside = vault();
    symlinkSync(outside, join(root, "linked"));
    await expect(lessons.capture({ ...NEW, ...change })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(text()).toBe(before);
    expect(await lessons.list()).toHaveLength(1);
    expect(readdirSync(outside)).toEqual([]);
  });

  it("says which file cannot be written", async () => {
    const { lessons } = start({ kubelab: "no folder" });
    await expect(lessons.capture(NEW)).rejects.toMatchObject({
      code: "STORE_UNWRITABLE",
      details: { path: "kubelab/90-lessons.md" },
    });
    const project = "p".repeat(300);
    await expect(lessons.capture({ ...NEW, project })).rejects.toMatchObject({
      code: "STORE_UNWRITABLE",
      details: { path: `${project}/90-lessons.md` },
    });
  });

  it("says that another program took the lesson out of the file at once", async () => {
    const { root, lessons } = start();
    const path = join(root, "kubelab/90-lessons.md");
    const captured = lessons.capture(NEW);
    const taken = (async () => {
      while (!existsSync(path)) await setImmediate();
      rmSync(path);
    })();
    await expect(captured).rejects.toMatchObject({
      code: "STORE_UNWRITABLE",
      message: expect.stringContaining("kubelab/90-lessons.md"),
    });
    await taken;
    expect((await lessons.capture(NEW)).title).toBe("Cache");
  });

  it("refuses a body with a heading, which would end the lesson", async () => {
    const { lessons, text } = start();
    await lessons.capture(NEW);
    const before = text();
    for (const heading of ["# Details", "## Details", "### Details"]) {
      const body = `first part\n\n${heading}\n\nsecond part`;
      await expect(lessons.capture({ ...NEW, title: "Long", body })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    expect(await lessons.capture({ ...NEW, title: "Short", body: "one\r\n\r\n#### two\r\n" })).toMatchObject({
      title: "Short",
    });
    expect(text().startsWith(before)).toBe(true);
    expect(text()).not.toContain("first part");
  });

  it("writes nothing after it was closed, and leaves the engine open that it was given", async () => {
    const { lessons, text } = start();
    await lessons.capture(NEW);
    const before = text();
    await lessons.close();
    await expect(lessons.capture({ ...NEW, title: "Late" })).rejects.toMatchObject({ code: "STORE_CLOSED" });
    expect(text()).toBe(before);
    expect(await lessons.engine.status()).toMatchObject({ namespace: "default" });
  });

  it.each([
    ["a title whose last # would be lost", { title: "use #" }, /# at the end of the title/],
    ["a body whose first line would be its confidence", { body: "confidence: 0.2\nReal." }, /first line/],
  ])("refuses %s, and says so", async (_, change, says) => {
    const { lessons } = start();
    await expect(lessons.capture({ ...NEW, ...change })).rejects.toThrow(says);
  });

  it("refuses a file that ends inside a code block", async () => {
    const { lessons } = start({ "kubelab/90-lessons.md": "```\nopen" });
    await expect(lessons.capture(NEW)).rejects.toThrow(/Close code blocks/);
  });
});
