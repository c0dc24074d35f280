import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig(library({ entry: { index: "src/index.ts", agents: "src/agents/index.ts" } }));
