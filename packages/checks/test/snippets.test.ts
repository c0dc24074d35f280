import { rm } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { command } from "../src/command.js";
import { repositoryFile } from "../src/repository.js";
import { runSnippet, SNIPPET_FOLDER, type Snippet, snippets, writeSnippets } from "../src/snippet.js";

const all = snippets();

describe("TypeScript blocks of the documentation", () => {
  beforeAll(async () => {
    await rm(SNIPPET_FOLDER, { recursive: true, force: true });
    writeSnippets(all);
  });

  it("exist", () => {
    expect(all.length).toBeGreaterThan(0);
  });

  it("type-check against the built packages", async () => {
    const { exitCode, output } = await command("tsc", ["-p", "tsconfig.snippets.json"], {
      cwd: repositoryFile("packages/checks"),
    });
    expect(exitCode, output).toBe(0);
  });

  it.each(all.map((snippet): [string, Snippet] => [snippet.place, snippet]))(
    "%s runs and prints what it shows",
    async (_place, snippet) => {
      const { exitCode, stdout, output } = await runSnippet(snippet);
      expect(exitCode, output).toBe(0);
      if (snippet.output.length > 0) expect(stdout.trimEnd().split("\n")).toEqual(snippet.output);
    },
  );
});
