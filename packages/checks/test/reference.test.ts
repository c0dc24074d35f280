import { readFileSync } from "node:fs";
import { ERROR_CODES, oar, qValue, similarity } from "@qavr/core";
import * as compared from "@qavr/learners";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "../src/documentation.js";
import { readMarkdown } from "../src/markdown.js";
import { repositoryFile } from "../src/repository.js";
import { OTHER_RUNTIMES, RUNTIMES_IN_CI } from "../src/runtimes.js";

const sources = sourceFiles().map((path) => ({ path, text: readFileSync(repositoryFile(path), "utf8") }));

describe("docs/reference/errors.md", () => {
  const documented = readMarkdown(repositoryFile("docs/reference/errors.md")).headings.filter(
    ({ depth }) => depth === 3,
  );

  it("has one heading for every error code and no other", () => {
    expect(documented.map(({ text }) => text).sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });

  it.each(Object.entries(ERROR_CODES))(
    "explains %s in the words of the code, and then what to do",
    (code, sentence) => {
      const body = documented.find(({ text }) => text === code)?.body ?? "";
      expect(body).toContain(sentence);
      expect(body.replace(sentence, "").trim()).not.toBe("");
    },
  );
});

describe("docs/reference/learners.md", () => {
  const page = readFileSync(repositoryFile("docs/reference/learners.md"), "utf8");
  it("has one row for every learner, with its id, and no other", () => {
    const { formatSeedState: _, parseSeedState: __, unreachableScores: ___, ...others } = compared;
    const expected = Object.entries({ oar, qValue, similarity, ...others }).map(
      ([name, create]) => `\`${name}()\` \`${create().id}\``,
    );
    const listed = [...page.matchAll(/^\| (`\w+\(\)` `[^`]+`)/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(expected.sort());
  });

  it("names every option of a learner and no other", () => {
    const declared = sources
      .map(({ path, text }) => ({
        text,
        name: /^packages\/(?:core\/src\/learners|learners\/src)\/([\w-]+)/.exec(path)?.[1],
      }))
      .filter(({ name }) => name !== undefined)
      .flatMap(({ name, text }) =>
        [...text.matchAll(/export interface \w+Options \{(.*?)^\}/gms)].flatMap(([, body = ""]) =>
          [...body.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, option]) => `${name} ${option}`),
        ),
      );
    const folder = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const listed = [...page.matchAll(/^- `(\w+)`: (.+)$/gm)].flatMap(([, name = "", options = ""]) =>
      [...options.matchAll(/`(\w+)`/g)].map(([, option]) => `${folder(name)} ${option}`),
    );
    expect(declared.length).toBeGreaterThan(40);
    expect(listed.sort()).toEqual(declared.sort());
  });
});

describe("docs/reference/log-codes.md", () => {
  const documented = readMarkdown(repositoryFile("docs/reference/log-codes.md")).headings.filter(
    ({ depth }) => depth === 3,
  );
  const sentences = Object.fromEntries(
    sources
      .filter(({ path }) => path.endsWith("/log-codes.ts"))
      .flatMap(({ text }) =>
        [...text.matchAll(/^ {2}([A-Z_]+):\s+"(.+)",$/gm)].map(([, code, sentence]) => [code, sentence]),
      ),
  ) as Record<string, string>;
  // The program `qavr` answers with codes and logs none.
  const libraries = sources.filter(({ path }) => !path.startsWith("packages/qavr/"));
  const logged = found(/\bcode: "([A-Z][A-Z_]+)"/g, libraries).filter((code) => !(code in ERROR_CODES));

  it("has one heading for every code that a package logs and no other", () => {
    const codes = new Set([...logged, ...Object.keys(sentences)]);
    expect(documented.map(({ text }) => text).sort()).toEqual([...codes].sort());
  });

  it.each(Object.entries(sentences))("explains %s in the words of the code, and then what to do", (code, sentence) => {
    const body = documented.find(({ text }) => text === code)?.body ?? "";
    expect(body).toContain(sentence);
    expect(body.replace(sentence, "").trim()).not.toBe("");
  });
});

describe("docs/reference/environment.md", () => {
  const documented = readMarkdown(repositoryFile("docs/reference/environment.md")).headings.filter(
    ({ depth }) => depth === 3,
  );
  const read = found(/(?:\bprocess\.env\.|"(?=QAVR_))([A-Z][A-Z_0-9]+)/g);

  it("has one heading for every variable that is read and no other", () => {
    expect(documented.map(({ text }) => text).sort()).toEqual(read);
  });
});

/** Distinct matches of a pattern's first group in the sources, sorted. */
function found(pattern: RegExp, among = sources): string[] {
  return [...new Set(among.flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1] ?? "")))].sort();
}

describe("docs/reference/runtimes.md", () => {
  it("has one row for every runtime that is tried, with its SQLite, and no other", () => {
    const page = readFileSync(repositoryFile("docs/reference/runtimes.md"), "utf8");
    const table = page.matchAll(/^\| (\w+ \d[\d.]+).*? \| (.*?) \| (.*?) \|/gm);
    const expected = [...RUNTIMES_IN_CI, ...OTHER_RUNTIMES].map(({ name, version, sqlite }) => {
      const processes = sqlite?.sharesFiles ? "several" : "one";
      return [`${name} ${version}`, sqlite?.version ?? "–", sqlite ? processes : "–"];
    });
    expect([...table].map(([, ...cells]) => cells).sort()).toEqual(expected.sort());
  });
});
