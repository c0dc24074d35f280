import { existsSync, globSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { command } from "../src/command.js";
import { documentationPages } from "../src/documentation.js";
import { publishedPackages } from "../src/published-packages.js";
import { repositoryFile } from "../src/repository.js";

describe("the documentation's site", () => {
  const folder = mkdtempSync(join(tmpdir(), "qavr-site-"));
  const textOf = (path: string): string => readFileSync(join(folder, path), "utf8");

  beforeAll(async () => {
    const { exitCode, output } = await command("node", [repositoryFile("scripts/site.mjs"), folder], { cwd: folder });
    expect(exitCode, output).toBe(0);
  });

  it("has every page, as HTML and as Markdown, and lists it in llms.txt", () => {
    const list = textOf("llms.txt");
    for (const page of documentationPages()) {
      expect(list, page).toContain(`](${page})`);
      expect(existsSync(join(folder, page)), page).toBe(true);
      expect(existsSync(join(folder, page.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html"))), page).toBe(
        true,
      );
    }
  });

  it("has an API page for each library, with the comments of its types", () => {
    for (const { manifest } of publishedPackages().filter(({ manifest: { bin } }) => !bin)) {
      const name = manifest.name.replace("@", "").replaceAll("/", "-");
      expect(textOf(`docs/api/${name}.html`), name).toContain("Generated from the types");
    }
    const core = textOf("docs/api/qavr-core.md");
    expect(core).toMatch(/## createEngine\n\n```ts\n[\s\S]*?function createEngine\(/);
    expect(core).toMatch(/## RankedItem\n\n```ts\n\/\*\* A ranked memory\./);
  });

  it("finds sections by their words", () => {
    expect(textOf("search-index.js")).toContain("docs/reference/errors.html#store_corrupt");
    expect(textOf("docs/reference/errors.html")).toContain('id="store_corrupt"');
    expect(textOf("search-index.js")).toContain("docs/how-to/troubleshooting.html");
  });

  it("loads nothing from elsewhere, and needs no server", () => {
    for (const page of globSync("**/*.html", { cwd: folder })) {
      const loaded = [...textOf(page).matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(
        ([, url]) => url,
      );
      expect(
        loaded.filter((url) => /^(https?:)?\/\//.test(url ?? "")),
        page,
      ).toEqual([]);
    }
  });
});
