import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig(
  library({ platform: "neutral", entry: { index: "src/index.ts", learners: "src/learners/index.ts" } }),
);
