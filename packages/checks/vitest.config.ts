import { defineConfig } from "vitest/config";

/** The slow half of the checks: packs every published package and uses it from the tarball, and runs the loop on other runtimes. `pnpm test --config packages/checks/vitest.config.ts`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["published/**/*.test.ts", "runtimes/in-ci.test.ts"],
    reporters: process.env.CI ? ["default", ["json", { outputFile: "../../reports/packages.json" }]] : ["default"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    fileParallelism: false,
  },
});
