import { rm } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, command } from "../src/command.js";
import { repositoryFile } from "../src/repository.js";
import { runSnippet, SNIPPET_FOLDER, type Snippet, snippets, writeSnippets } from "../src/snippet.js";

const all = snippets();
const runs = new Map<Snippet, Promise<CommandResult>>();

/** The last snippet that continues the one at this place. Its run includes the lines of that one. */
function runFor(place: number): Snippet {
  return all[place + 1]?.continues ? runFor(place + 1) : (all[place] as Snippet);
}

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

  it.each(all.map(({ place, output }, i): [string, readonly string[], Snippet] => [place, output, runFor(i)]))(
    "%s runs and prints what it shows",
    async (_place, shown, last) => {
      const run = runs.get(last) ?? runSnippet(last);
      runs.set(last, run);
      const { exitCode, stdout, output } = await run;
      expect(exitCode, output).toBe(0);
      const lines = stdout.trimEnd().split("\n");
      // Lines of the blocks that continue this one come after its own.
      if (shown.length > 0) expect(shown === last.output ? lines : lines.slice(0, shown.length)).toEqual(shown);
    },
  );
});
