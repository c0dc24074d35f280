import { defineConfig } from "vitest/config";
import checks from "./vitest.config.ts";

/** The loop on every runtime. The first run installs them from npm, 700 MB. `pnpm test --config packages/checks/runtimes.vitest.config.ts`. */
export default defineConfig({ test: { ...checks.test, include: ["runtimes/*.test.ts"] } });
