import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentationPages } from "../src/documentation.js";
import { readMarkdown } from "../src/markdown.js";
import { publishedPackages } from "../src/published-packages.js";
import { repositoryFile } from "../src/repository.js";

const readmes = [
  "README.md",
  ...publishedPackages().map(({ folder }) => `packages/${folder.split("/").at(-1)}/README.md`),
];

/** pnpm's own commands that pages may name besides the scripts of the workspace. */
const PNPM_COMMANDS = new Set(["add", "install", "exec", "dlx", "changeset"]);

describe("the README", () => {
  it.each(readmes)("%s exists and shows code by line 25", (page) => {
    expect(existsSync(repositoryFile(page))).toBe(true);
    const { blocks, commands } = readMarkdown(repositoryFile(page));
    // A program is called from a shell.
    if (page === "packages/qavr/README.md") return expect(commands[0]).toContain("npx qavr");
    const first = blocks.find(({ language }) => language === "ts");
    expect(first?.line ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(25);
  });
});

describe("commands that the documentation names", () => {
  const { scripts } = JSON.parse(readFileSync(repositoryFile("package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };

  it.each(documentationPages())("%s names scripts that exist", (page) => {
    const commands = readMarkdown(repositoryFile(page)).commands.join("\n");
    const named = [...commands.matchAll(/(?:^|\s)pnpm(?:@\d+)? (?:run )?([a-z][a-z:-]*)/gm)].map(
      ([, script]) => script ?? "",
    );
    expect(named.filter((script) => !(script in scripts) && !PNPM_COMMANDS.has(script))).toEqual([]);
  });

  it.each(documentationPages())("%s names benchmarks that exist", (page) => {
    const commands = readMarkdown(repositoryFile(page)).commands.join("\n");
    const named = [...commands.matchAll(/\bpnpm(?:@\d+)? bench ([a-z]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !existsSync(repositoryFile(`packages/bench/src/${name}/main.ts`)))).toEqual([]);
  });
});
