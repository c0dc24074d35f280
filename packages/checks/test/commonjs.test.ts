import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileFunction } from "node:vm";
import type { MastraVector } from "@mastra/core/vector";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "qavr-commonjs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a CommonJS module and its neighbours as Jest does: in contexts without import(). */
function withoutImport(file: string): Record<string, (...given: never[]) => unknown> {
  const require = createRequire(file);
  const parameters = ["exports", "require", "__filename"];
  const run = compileFunction(readFileSync(file, "utf8"), parameters, { filename: file });
  const exported = {};
  run(exported, (id: string) => (id.startsWith("./") ? withoutImport(join(dirname(file), id)) : require(id)), file);
  return exported;
}

const entry = (name: string): string => createRequire(import.meta.url).resolve(name);

describe("the CommonJS build without import()", () => {
  it("opens the store of a path for @qavr/langchain", async () => {
    const { qavr } = withoutImport(entry("@qavr/langchain")) as unknown as typeof import("@qavr/langchain");
    const memory = qavr({ store: join(folder, "langchain.db") });
    expect((await memory.status()).episodes.recorded).toBe(0);
    await memory.close();
  });

  it("opens the store of a path for @qavr/mastra", async () => {
    const { qavrVector } = withoutImport(entry("@qavr/mastra")) as unknown as typeof import("@qavr/mastra");
    const host = { query: async () => [] } as unknown as MastraVector;
    const vector = qavrVector(host, { store: join(folder, "mastra.db") });
    await expect(vector.reportOutcome("no episode", { success: true })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
    });
  });

  it("loads pg for @qavr/postgres", async () => {
    const { postgresStore } = withoutImport(entry("@qavr/postgres")) as unknown as typeof import("@qavr/postgres");
    const store = postgresStore("postgres://127.0.0.1:1/none");
    await expect(store.head("default")).rejects.toThrow("ECONNREFUSED");
    await store.close();
  });
});
