import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { documentationPages, sourceFiles } from "../src/documentation.js";
import { type MarkdownPage, readMarkdown } from "../src/markdown.js";
import { repositoryFile } from "../src/repository.js";

describe("links of the documentation", () => {
  it.each(documentationPages())("%s links to files and headings that exist", (page) => {
    const broken = pageAt(repositoryFile(page))
      .links.filter(({ url }) => !/^[a-z]+:/.test(url))
      .filter(({ url }) => !resolves(page, url))
      .map(({ url, line }) => `${page}:${line} → ${url}`);
    expect(broken).toEqual([]);
  });
});

describe("pages that the sources name", () => {
  it("exist", () => {
    const missing = sourceFiles().flatMap((path) => {
      const named = readFileSync(repositoryFile(path), "utf8").match(/\bdocs\/[\w/-]+\.(?:md|svg|json)\b/g) ?? [];
      return named.filter((page) => !existsSync(repositoryFile(page))).map((page) => `${path} → ${page}`);
    });
    expect(missing).toEqual([]);
  });
});

const pages = new Map<string, MarkdownPage>();

/** A page, read once: hundreds of links lead to some of them. */
function pageAt(path: string): MarkdownPage {
  const page = pages.get(path) ?? readMarkdown(path);
  pages.set(path, page);
  return page;
}

function resolves(page: string, url: string): boolean {
  const [path = "", anchor] = url.split("#");
  const target = repositoryFile(path === "" ? page : join(dirname(page), path));
  if (!existsSync(target)) return false;
  return anchor === undefined || pageAt(target).headings.some((heading) => heading.anchor === anchor);
}
