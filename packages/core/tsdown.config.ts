import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig(
  library({
    platform: "neutral",
    entry: { index: "src/index.ts", adapter: "src/adapter/index.ts", learners: "src/learners/index.ts" },
  }),
);
