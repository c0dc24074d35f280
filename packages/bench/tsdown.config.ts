import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

/** Unbundled: the data files are found relative to the module that reads them, from sources and from `dist` alike. */
export default defineConfig({
  ...library({
    entry: [
      "src/main.ts",
      "src/mastra/index.ts",
      "src/learning/worker.ts",
      "src/real/worker.ts",
      "src/silence/worker.ts",
      "src/stores/open-probe.ts",
      "src/local/probe.ts",
    ],
  }),
  format: ["esm"],
  unbundle: true,
});
