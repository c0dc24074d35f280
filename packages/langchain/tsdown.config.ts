import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig(
  library({
    entry: {
      index: "src/index.ts",
      agents: "src/agents/index.ts",
      attach: "src/attach/index.ts",
      langgraph: "src/langgraph/index.ts",
      langsmith: "src/langsmith/index.ts",
      reflection: "src/reflection/index.ts",
    },
  }),
);
