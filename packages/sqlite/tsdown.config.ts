import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig(
  library({ entry: { index: "src/index.ts", file: "src/file.ts", "no-sqlite": "src/no-sqlite.ts" } }),
);
