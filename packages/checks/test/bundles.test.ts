import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";
import { type InputOptions, type OutputOptions, rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { command } from "../src/command.js";

/** KiB, minified and gzipped. Lower it when the core gets smaller; the aim is 22. */
const LIMIT = 32.5;

async function bundledByRolldown(
  program: string,
  options: InputOptions,
  generate: OutputOptions = {},
): Promise<string> {
  const entry = "virtual:application";
  const bundle = await rolldown({
    input: entry,
    cwd: import.meta.dirname,
    plugins: [
      {
        name: "application",
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? program : null),
      },
    ],
    ...options,
  });
  const { output } = await bundle.generate({ format: "es", codeSplitting: false, ...generate });
  const chunks = new Map(output.flatMap((chunk) => (chunk.type === "chunk" ? [[chunk.fileName, chunk]] : [])));
  // Chunks that load on first use, such as those behind explain() and status(), are left out.
  const atStart = new Set([...chunks.values()].filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const name of atStart) for (const imported of chunks.get(name)?.imports ?? []) atStart.add(imported);
  return [...atStart].map((name) => chunks.get(name)?.code ?? "").join("");
}

async function bundledByEsbuild(program: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "silent",
    ...options,
  });
  return outputFiles?.[0]?.text as string;
}

it(`createEngine and memoryStore take at most ${LIMIT} KiB of an application's start`, async () => {
  const code = await bundledByRolldown(
    'import { createEngine, memoryStore } from "@qavr/core"; globalThis.engine = createEngine({ store: memoryStore() });',
    // An application exports nothing.
    { platform: "neutral", preserveEntrySignatures: false },
    { codeSplitting: true, minify: true },
  );
  const size = gzipSync(code).length / 1024;
  console.log(`createEngine + memoryStore: ${size.toFixed(1)} KiB gzipped`);
  // An import that stayed outside would make the bundle small and the number wrong.
  expect(code).not.toMatch(/(from|import\(?)\s*["`']@qavr\/core/);
  expect(size).toBeLessThanOrEqual(LIMIT);
});

describe("@qavr/langchain in a bundle", () => {
  const program = `
    import { memoryStore } from "@qavr/core";
    import { qavr } from "@qavr/langchain";
    import { fileCursor } from "@qavr/langchain/langsmith";
    const recorded = async (store) => (await qavr({ store, logger: {} }).status()).episodes.recorded;
    const refusal = await recorded(":memory:").catch(({ code, message }) => code + " " + message);
    console.log(JSON.stringify([await recorded(memoryStore()), refusal, typeof fileCursor("cursor").read]));`;

  async function outputOf(code: string): Promise<unknown> {
    const cwd = await mkdtemp(join(tmpdir(), "qavr-bundle-"));
    await writeFile(join(cwd, "application.mjs"), code);
    const { stdout, output } = await command("node", ["application.mjs"], { cwd });
    return stdout === "" ? output : JSON.parse(stdout);
  }

  it.each([["browser"], ["worker"], ["workerd"], ["edge-light"]])(
    "runs with a store of one's own where the condition is %s",
    async (condition) => {
      const bundle = await bundledByEsbuild(program, { platform: "browser", conditions: [condition] });
      const resolve = { conditionNames: ["import", condition] };
      const other = await bundledByRolldown(program, { platform: "browser", resolve });
      for (const code of [bundle, other]) {
        expect(code.match(/^import.*"node:[a-z_/]+"/gm)).toBeNull();
        expect(code).not.toContain("PRAGMA");
        // Without it, webpack warns of an import that it cannot follow, and replaces it by one that fails.
        if (code === other) expect(code).toMatch(/import\(\s*\/\* webpackIgnore: true \*\//);
        if (condition !== "edge-light") continue;
        const refusal = expect.stringMatching(/^STORE_UNAVAILABLE .* store: memoryStore\(\)/);
        expect(await outputOf(code)).toEqual([0, refusal, "function"]);
      }
    },
  );

  it("keeps SQLite where esbuild and rolldown bundle for Node", async () => {
    const require = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;
    for (const code of [
      // LangChain has CommonJS among its dependencies.
      await bundledByEsbuild(program, { platform: "node", banner: { js: require } }),
      await bundledByRolldown(program, { platform: "node" }),
    ]) {
      expect(await outputOf(code)).toEqual([0, 0, "function"]);
    }
  });
});
