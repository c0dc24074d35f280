import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig(
  library({
    platform: "neutral",
    entry: {
      index: "src/index.ts",
      adapter: "src/adapter/index.ts",
      learner: "src/learners/index.ts",
      store: "src/store-kit.ts",
      maintenance: "src/maintenance/index.ts",
      governance: "src/governance/index.ts",
    },
  }),
);
