import { describe, expect, it } from "vitest";
import { sectionsOf } from "../src/sections.js";

const found = (source: string): string[] => sectionsOf(source).map(({ title, body }) => `${title}: ${body}`);

describe("lessons in Markdown", () => {
  it("L13: are headings with a date, not in code, quotes, lists or HTML", () => {
    const source = [
      "# Lessons",
      "```md\n### [2026-01-01] in a fence\n```",
      "    ### [2026-01-01] indented",
      "<div>\n### [2026-01-01] in HTML\n</div>",
      "> ### [2026-01-01] quoted",
      "- ### [2026-01-01] in a list",
      "### without a date",
      "### [2026-02-30] on no day",
      "### [2026-01-02]",
      "#### [2026-01-01] too deep",
      "## [2026-01-01] too high",
      "### [2026-01-02] yes\nbody",
    ].join("\n\n");
    expect(found(source)).toEqual(["yes: body"]);
  });

  it("L13: may have the same heading twice", () => {
    expect(found("### [2026-01-02] yes\none\n### [2026-01-02] yes\ntwo")).toEqual(["yes: one", "yes: two"]);
  });

  it("end at the next heading of their level or above, and keep what is below it", () => {
    const source = "### [2026-01-02] a\none\n#### more\n```\n### [2026-01-03] code\n```\n## b\ntwo";
    expect(found(source)).toEqual(["a: one\n#### more\n```\n### [2026-01-03] code\n```"]);
  });

  it.each([
    ["a separator without an empty line", "one\n---"],
    ["a merge conflict", "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> branch"],
  ])("keep their text above %s", (_, body) => {
    expect(found(`### [2026-01-02] a\n${body}\n   ### [2026-01-02] b\ntwo`)).toEqual([`a: ${body}`, "b: two"]);
  });

  it("keep markup in titles, and any line ends, byte order mark and script", () => {
    expect(found("\uFEFF### [2026-01-02]  use `npm ci` \r\n\r\n新着\r\nメッセージ\r\n")).toEqual([
      "use `npm ci`: 新着\r\nメッセージ",
    ]);
    expect(found("### [2026-01-02] linked\nbody\n\n[2026-01-02]: https://example.com")).toHaveLength(1);
  });

  it("stay lessons where a formatter such as remark has escaped the brackets of their dates", () => {
    expect(found("### \\[2026-01-02] a\none\n### \\[2026-01-02\\] b\ntwo")).toEqual(["a: one", "b: two"]);
  });

  it("L3: state their confidence in the first line", () => {
    const [stated, none, later] = sectionsOf(
      "### [2026-01-02] a\n\nconfidence: 0.9\n\nbody\n### [2026-01-02] b\nbody\n### [2026-01-02] c\nbody\nconfidence: 0.1\n",
    );
    expect(stated).toMatchObject({ confidence: 0.9, body: "body" });
    expect(none?.confidence).toBeUndefined();
    expect(later).toMatchObject({ confidence: undefined, body: "body\nconfidence: 0.1" });
  });

  it.each([
    ["emphasis", "**a*".repeat(75_000)],
    ["brackets", "[m1]".repeat(400_000)],
    ["lists inside each other", `${"* ".repeat(75_000)}a`],
    ["quotes inside each other", `${"> - ".repeat(75_000)}a`],
  ])("are read before the test's timeout, also where a text is all %s", (_, body) => {
    const text = `### [2026-01-31] A **bold** *title*\n\n${body}\n### [2026-01-31] Another\n`;
    expect(sectionsOf(text).map(({ title }) => title)).toEqual(["A **bold** *title*", "Another"]);
  });
});
