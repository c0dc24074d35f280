import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig({
  ...library({ entry: ["src/index.ts", "src/attacks/main.ts", "src/harness/main.ts"] }),
  format: ["esm"],
  unbundle: true,
});
