import { runCommand, UsageError } from "@qavr/lab";

const BENCHMARKS: Readonly<Record<string, () => Promise<unknown>>> = {
  learning: () => import("./learning/main.js"),
  real: () => import("./real/main.js"),
  silence: () => import("./silence/main.js"),
  speed: () => import("./speed/main.js"),
  adapter: () => import("./adapter/main.js"),
  mastra: () => import("./mastra/main.js"),
  local: () => import("./local/main.js"),
  procedures: () => import("./procedures/main.js"),
  stores: () => import("./stores/main.js"),
  scale: () => import("./scale/main.js"),
  cluster: () => import("./cluster/main.js"),
  busy: () => import("./busy/main.js"),
  growth: () => import("./growth/main.js"),
};

await runCommand(async () => {
  // The benchmark reads the flags after its name.
  const [name = ""] = process.argv.splice(2, 1);
  const start = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
  if (!start) throw new UsageError(`Name a benchmark: pnpm bench <${Object.keys(BENCHMARKS).join(" | ")}> [flags].`);
  await start();
});
