import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

/** KiB, minified and gzipped. Lower it when the core gets smaller; the aim is 22. */
const LIMIT = 32;

it(`createEngine and memoryStore take at most ${LIMIT} KiB of an application`, async () => {
  const entry = "virtual:application";
  const bundle = await rolldown({
    input: entry,
    cwd: import.meta.dirname,
    platform: "neutral",
    plugins: [
      {
        name: "application",
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? 'export { createEngine, memoryStore } from "@qavr/core";' : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "es", minify: true });
  const code = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("");
  const size = gzipSync(code).length / 1024;
  console.log(`createEngine + memoryStore: ${size.toFixed(1)} KiB gzipped`);
  // An import that stayed outside would make the bundle small and the number wrong.
  expect(code).not.toMatch(/(from|import)\s*["`']@qavr\/core/);
  expect(size).toBeLessThanOrEqual(LIMIT);
});
