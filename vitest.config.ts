import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests run against the sources, so that coverage names the lines people edit; CJS and the packed files have their own checks. */
export default defineConfig({
  resolve: {
    alias: {
      "@qavr/core/adapter": source("packages/core/src/adapter/index.ts"),
      "@qavr/core/learners": source("packages/core/src/learners/index.ts"),
      "@qavr/core": source("packages/core/src/index.ts"),
      "@qavr/postgres-server": source("packages/postgres-server/src/index.ts"),
      "@qavr/postgres": source("packages/postgres/src/index.ts"),
      "@qavr/sqlite": source("packages/sqlite/src/index.ts"),
      "@qavr/store-conformance": source("packages/store-conformance/src/index.ts"),
      "@qavr/langchain/langsmith": source("packages/langchain/src/langsmith/index.ts"),
      "@qavr/langchain/reflection": source("packages/langchain/src/reflection/index.ts"),
      "@qavr/langchain": source("packages/langchain/src/index.ts"),
      "@qavr/mastra": source("packages/mastra/src/index.ts"),
      "@qavr/bench/mastra": source("packages/bench/src/mastra/index.ts"),
      "@qavr/bench": source("packages/bench/src/index.ts"),
      "@qavr/faults": source("packages/faults/src/index.ts"),
    },
  },
  test: {
    reporters: process.env.CI ? ["default", ["json", { outputFile: "reports/tests.json" }]] : ["default"],
    include: ["packages/*/{src,test}/**/*.test.ts", "examples/*/test/**/*.test.ts"],
    // Mastra reports its use to its makers unless told not to.
    env: { MASTRA_TELEMETRY_DISABLED: "1" },
    // A limit for what hangs, not for what is slow: coverage on two busy cores multiplies times.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    coverage: {
      enabled: Boolean(process.env.CI),
      provider: "v8",
      reportOnFailure: true,
      include: ["packages/*/src/**/*.ts"],
      exclude: [
        "**/*.test.ts",
        "packages/bench/**",
        "packages/checks/**",
        "packages/faults/**",
        "packages/postgres-server/**",
      ],
      reporter: ["text-summary", "json-summary"],
      thresholds: { statements: 80, branches: 80, functions: 80, lines: 80 },
    },
  },
});
