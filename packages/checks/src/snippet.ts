import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandResult, command } from "./command.js";
import { documentationPages } from "./documentation.js";
import { type CodeBlock, readMarkdown } from "./markdown.js";
import { repositoryFile } from "./repository.js";

/** A TypeScript block of a page, as it is run. */
export interface Snippet {
  /** `README.md:27`, for messages. */
  readonly place: string;
  /** Absolute path of the module that was written for it. */
  readonly file: string;
  /** The whole module: the blocks that it continues, the hidden setup, then the block. */
  readonly source: string;
  /** `vitest` for blocks under `<!-- runner: vitest -->`. */
  readonly runner: "node" | "vitest";
  /** Its module begins with that of the snippet before. */
  readonly continues: boolean;
  /** The lines that the block says it prints: the text after each `// →`, and the `txt` block directly below. */
  readonly output: readonly string[];
}

const TYPESCRIPT = new Set(["ts", "typescript", "mts"]);

/** Folder of the modules: inside this package, so that they resolve the built packages as an application does. */
export const SNIPPET_FOLDER: string = repositoryFile("packages/checks/.cache/snippets");

/**
 * Every TypeScript block of every page, in order. HTML comments above a block, which readers never see, say more about it:
 *
 * - `<!-- setup … -->` holds the lines that a reader has already (a model, a vector store) and that the page leaves out.
 * - `<!-- continues -->`: the block goes on where the block before it on the page ended.
 * - `<!-- runner: vitest -->`: the block is a test file.
 */
export function snippets(): Snippet[] {
  return documentationPages().flatMap((page) => {
    const found: Snippet[] = [];
    for (const block of readMarkdown(repositoryFile(page)).blocks) {
      if (TYPESCRIPT.has(block.language)) found.push(snippet(page, block, found.at(-1)));
    }
    return found;
  });
}

function snippet(
  page: string,
  { code, comments, line, shownOutput }: CodeBlock,
  previous: Snippet | undefined,
): Snippet {
  const earlier = comments.includes("continues") ? previous : undefined;
  const runner = comments.includes("runner: vitest") ? "vitest" : "node";
  const setup = comments.filter((text) => text.startsWith("setup")).map((text) => text.slice("setup".length));
  const suffix = runner === "vitest" ? ".test.ts" : ".ts";
  return {
    place: `${page}:${line}`,
    file: join(SNIPPET_FOLDER, `${page.replace(/\W+/g, "-").toLowerCase()}-${line}${suffix}`),
    source: `${[earlier?.source ?? "export {};", ...setup, code].join("\n").trim()}\n`,
    runner,
    continues: earlier !== undefined,
    output: [
      ...(earlier?.output ?? []),
      ...[...code.matchAll(/\/\/ → ?(.*)$/gm)].map((match) => (match[1] as string).trimEnd()),
      ...(shownOutput?.split("\n") ?? []),
    ],
  };
}

/** Writes the modules of all snippets. */
export function writeSnippets(all: readonly Snippet[]): void {
  mkdirSync(SNIPPET_FOLDER, { recursive: true });
  for (const { file, source } of all) writeFileSync(file, source);
}

/** Runs one snippet in an empty folder of its own. */
export async function runSnippet({ file, runner }: Snippet): Promise<CommandResult> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-snippet-"));
  return runner === "node"
    ? await command("node", [file], { cwd: folder.path })
    : await command("vitest", ["run", "--root", SNIPPET_FOLDER, file], { cwd: folder.path });
}
