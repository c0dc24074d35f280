import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

/** Unbundled: the data files are found relative to the module that reads them, from sources and from `dist` alike. */
export default defineConfig({
  ...library({
    entry: [
      "src/index.ts",
      "src/adapter/main.ts",
      "src/speed/main.ts",
      "src/cost/main.ts",
      "src/stores/main.ts",
      "src/stores/open-probe.ts",
      "src/learning/main.ts",
      "src/learning/worker.ts",
      "src/mastra/index.ts",
      "src/mastra/main.ts",
      "src/scale/main.ts",
    ],
  }),
  format: ["esm"],
  unbundle: true,
});
