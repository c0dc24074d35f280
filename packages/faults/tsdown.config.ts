import { defineConfig } from "tsdown";
import { library } from "../../tsdown.base.ts";

export default defineConfig({
  ...library({
    entry: [
      ...["src/index.ts", "src/main.ts"],
      // For the programs in fixtures/.
      ...[
        "src/harness/memory-steps.ts",
        "src/harness/mutant-stores.ts",
        "src/harness/rewriting-pool.ts",
        "src/harness/steady-runs.ts",
        "src/harness/tallies.ts",
      ],
    ],
  }),
  format: ["esm"],
  unbundle: true,
});
