import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { configDefaults, defineConfig, type TestProjectConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { hasCitus } from "./packages/postgres-server/src/has-citus.ts";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests and sources get the versions that the package in `folder` depends on. */
function dependenciesOf(folder: string): Plugin {
  const manifest = source(`${folder}/package.json`);
  const names = Object.keys(JSON.parse(readFileSync(manifest, "utf8")).dependencies);
  return {
    // Vitest keeps transformed modules on disk by the names of the plugins that transformed them.
    name: `dependencies-of:${folder}`,
    enforce: "pre",
    resolveId(id, importer) {
      const isDependency = importer !== manifest && names.some((name) => id === name || id.startsWith(`${name}/`));
      // The oldest core has no fake models: the newest lends them.
      return isDependency && id !== "@langchain/core/testing" ? this.resolve(id, manifest, { skipSelf: true }) : null;
    },
  };
}

const UNAVAILABLE = [
  // Benchmarks that search in hnswlib-node. It is compiled on installation, so it is missing where no compiler exists.
  ...(existsSync(source("packages/bench/node_modules/hnswlib-node"))
    ? []
    : ["packages/bench/test/{adapter,speed,stores}.test.ts"]),
  ...(hasCitus()
    ? []
    : ["packages/postgres/test/{shards,older-server}*.test.ts", "packages/{bench,qavr}/test/cluster.test.ts"]),
];

/**
 * Mastra keeps vectors of texts in a module variable, whichever model made them. Files of its package share a process because all of
 * them have one model; each application has a process of its own.
 */
const MASTRA = ["packages/mastra/test/**/*.test.ts"];
const ISOLATED = ["examples/{mastra,studio}/test/**/*.test.ts"];

/** Some tests of `@qavr/langchain` run again on the oldest peers that it supports. Files of one project share a process. */
const onOldest = (peers: string, tests: readonly string[]): TestProjectConfiguration => ({
  extends: true,
  plugins: [dependenciesOf(`packages/langchain/floor/${peers}`)],
  test: {
    name: `oldest-${peers}`,
    include: tests.map((test) => `packages/langchain/test/${test}.test.ts`),
    isolate: false,
  },
});

/** Small files that take long: with few files left, a core would be idle while one of them runs. */
const LONG = /(e2e|sim|conformance|snippets|cluster|dashboard-states)\.test\.ts$/;

/** By itself Vitest starts the largest files first, until it knows how long each of them takes. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): number => Number(LONG.test(moduleId));
    // Files of one project stay together: they share processes.
    return (await super.sort(files)).sort((a, b) =>
      a.project.name === b.project.name ? isLong(b) - isLong(a) : a.project.name < b.project.name ? -1 : 1,
    );
  }
}

/** Tests run against the sources, so that coverage names the lines people edit; CJS and the packed files have their own checks. */
export default defineConfig({
  resolve: {
    alias: {
      "@qavr/core/adapter": source("packages/core/src/adapter/index.ts"),
      "@qavr/core/learner": source("packages/core/src/learners/index.ts"),
      "@qavr/core/store": source("packages/core/src/store-kit.ts"),
      "@qavr/core/maintenance": source("packages/core/src/maintenance/index.ts"),
      "@qavr/core/governance": source("packages/core/src/governance/index.ts"),
      "@qavr/core": source("packages/core/src/index.ts"),
      "@qavr/learners": source("packages/learners/src/index.ts"),
      "@qavr/postgres-server": source("packages/postgres-server/src/index.ts"),
      "@qavr/postgres": source("packages/postgres/src/index.ts"),
      "@qavr/sqlite/file": source("packages/sqlite/src/file.ts"),
      "@qavr/sqlite": source("packages/sqlite/src/index.ts"),
      "@qavr/store-conformance": source("packages/store-conformance/src/index.ts"),
      "@qavr/local": source("packages/local/src/index.ts"),
      "@qavr/markdown": source("packages/markdown/src/index.ts"),
      "@qavr/langchain/agents": source("packages/langchain/src/agents/index.ts"),
      "@qavr/langchain/langsmith": source("packages/langchain/src/langsmith/index.ts"),
      "@qavr/langchain/reflection": source("packages/langchain/src/reflection/index.ts"),
      "@qavr/langchain": source("packages/langchain/src/index.ts"),
      "@qavr/mastra/agents": source("packages/mastra/src/agents/index.ts"),
      "@qavr/mastra": source("packages/mastra/src/index.ts"),
      "@qavr/bench/mastra": source("packages/bench/src/mastra/index.ts"),
      "@qavr/lab": source("packages/lab/src/index.ts"),
      "@qavr/faults": source("packages/faults/src/index.ts"),
    },
  },
  test: {
    globalSetup: "vitest.setup.ts",
    // By default one core stays idle, which is half of a machine with two. Many tests wait for servers and processes.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    sequence: { sequencer: LongFirst },
    unstubEnvs: true,
    reporters: process.env.CI ? ["default", ["json", { outputFile: "reports/tests.json" }]] : ["default"],
    projects: [
      {
        extends: true,
        test: {
          name: "newest",
          include: ["packages/*/{src,test}/**/*.test.ts", "examples/*/test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...MASTRA, ...ISOLATED, ...UNAVAILABLE, "**/oldest-peers.test.ts"],
          // Files share a process: loading the frameworks once per file took a seventh of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "isolated", include: ISOLATED } },
      { extends: true, test: { name: "mastra", include: MASTRA, isolate: false } },
      onOldest("main", [
        "oldest-peers",
        "{langgraph,lcel}-traces.e2e",
        "{batches,example-selector{,-runs},interrupts,left-streams,nested-retrievers,outcome-handler,run-scope}.e2e",
        "langgraph/*.e2e",
      ]),
      onOldest("agents", ["agents/oldest-peers", "agent-traces.e2e", "agents/*.e2e"]),
    ],
    // Mastra reports its use to its makers unless told not to.
    env: { MASTRA_TELEMETRY_DISABLED: "1" },
    // A limit for what hangs, not for what is slow: coverage on two busy cores multiplies times.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    coverage: {
      enabled: Boolean(process.env.CI),
      provider: "v8",
      reportOnFailure: true,
      include: ["packages/*/src/**/*.ts"],
      exclude: [
        "**/*.test.ts",
        "packages/bench/**",
        "packages/checks/**",
        "packages/faults/**",
        "packages/lab/**",
        "packages/postgres-server/**",
      ],
      reporter: ["text-summary", "json-summary"],
      thresholds: { statements: 80, branches: 80, functions: 80, lines: 80 },
    },
  },
});
