import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** The long runs of the PostgreSQL store: `pnpm stress:postgres`, about ten minutes. The suite has short ones of the same kind. */
const { include: _, ...test } = workspace.test ?? {};
export default mergeConfig(
  { ...workspace, test },
  defineConfig({
    root: fileURLToPath(new URL(".", import.meta.url)),
    test: {
      include: ["stress/**/*.test.ts"],
      testTimeout: 3_600_000,
      fileParallelism: false,
      coverage: { enabled: false },
    },
  }),
);
