/** One file that breaks one rule. */
export interface Planted {
  readonly what: string;
  readonly rule: string;
  readonly file: string;
  readonly source: string;
}

/** A violation of every kind. */
export const violations: readonly Planted[] = [
  {
    what: "core importing another package of the workspace",
    rule: "core-to-other-package",
    file: "packages/core/src/engine/a.ts",
    source: 'import "@qavr/sqlite";',
  },
  {
    what: "core importing a package from outside",
    rule: "core-to-outside",
    file: "packages/core/src/engine/b.ts",
    source: 'import "zod";',
  },
  {
    what: "core importing a built-in of Node",
    rule: "core-to-outside",
    file: "packages/core/src/engine/c.ts",
    source: 'import "node:crypto";',
  },
  {
    what: "core importing only a type from outside",
    rule: "core-to-outside",
    file: "packages/core/src/engine/d.ts",
    source: 'import type { A } from "zod"; export type B = A;',
  },
  {
    what: "a learner to compare importing a store",
    rule: "learners-to-other-package",
    file: "packages/learners/src/a.ts",
    source: 'import "@qavr/sqlite";',
  },
  {
    what: "a learner to compare importing a package from outside",
    rule: "learners-to-outside",
    file: "packages/learners/src/b.ts",
    source: 'import "zod";',
  },
  {
    what: "the command line importing an adapter",
    rule: "qavr-to-other-package",
    file: "packages/qavr/src/a.ts",
    source: 'import "@qavr/langchain";',
  },
  {
    what: "the command line importing a package that it does not declare",
    rule: "qavr-to-outside",
    file: "packages/qavr/src/b.ts",
    source: 'import "yargs";',
  },
  {
    what: "the parts of experiments importing an adapter",
    rule: "lab-to-other-package",
    file: "packages/lab/src/a.ts",
    source: 'import "@qavr/langchain";',
  },
  {
    what: "a store importing an adapter",
    rule: "sqlite-to-other-package",
    file: "packages/sqlite/src/a.ts",
    source: 'import "@qavr/langchain";',
  },
  {
    what: "a store importing a database client it does not declare",
    rule: "sqlite-to-outside",
    file: "packages/sqlite/src/b.ts",
    source: 'import "better-sqlite3";',
  },
  {
    what: "a store importing another store",
    rule: "postgres-to-other-package",
    file: "packages/postgres/src/a.ts",
    source: 'import "@qavr/sqlite";',
  },
  {
    what: "a store importing another database client than its own",
    rule: "postgres-to-outside",
    file: "packages/postgres/src/b.ts",
    source: 'import "postgres";',
  },
  {
    what: "the conformance suite importing a store",
    rule: "store-conformance-to-other-package",
    file: "packages/store-conformance/src/a.ts",
    source: 'import "@qavr/sqlite";',
  },
  {
    what: "the conformance suite importing something else than its test tools",
    rule: "store-conformance-to-outside",
    file: "packages/store-conformance/src/b.ts",
    source: 'import "zod";',
  },
  {
    what: "an adapter importing a concrete store",
    rule: "langchain-to-other-package",
    file: "packages/langchain/src/a.ts",
    source: 'import "@qavr/sqlite";',
  },
  {
    what: "an adapter loading a store lazily, but in another file than its default store's",
    rule: "langchain-to-other-package",
    file: "packages/langchain/src/b.ts",
    source: 'export const load = () => import("@qavr/sqlite");',
  },
  {
    what: "an adapter importing its default store at once",
    rule: "default-store-not-lazy",
    file: "packages/langchain/src/default-store.ts",
    source: 'import "@qavr/sqlite"; export const load = () => import("@qavr/sqlite");',
  },
  {
    what: "an adapter importing a framework package it does not have as a peer",
    rule: "langchain-to-outside",
    file: "packages/langchain/src/c.ts",
    source: 'import "@langchain/community/vectorstores/hnswlib";',
  },
  {
    what: "an adapter importing an optional peer outside of that peer's sub-path",
    rule: "langchain-optional-peer",
    file: "packages/langchain/src/d.ts",
    source: 'import type { createAgent } from "langchain"; export type A = typeof createAgent;',
  },
  {
    what: "an adapter's main entry leading to a sub-path",
    rule: "langchain-optional-peer",
    file: "packages/langchain/src/e.ts",
    source: 'import "./agents/legal.js";',
  },
  {
    what: "a package that has not stated its arrows",
    rule: "unplanned-package",
    file: "packages/surprise/src/a.ts",
    source: 'import "@qavr/core";',
  },
  {
    what: "a folder of core that has not stated its arrows",
    rule: "unplanned-room",
    file: "packages/core/src/surprise/a.ts",
    source: 'import "../errors/a.js";',
  },
  {
    what: "errors importing anything",
    rule: "core-errors-to-other-room",
    file: "packages/core/src/errors/x.ts",
    source: 'import "../store/a.js";',
  },
  {
    what: "scoring importing a learner",
    rule: "core-scoring-to-other-room",
    file: "packages/core/src/scoring/x.ts",
    source: 'import "../learners/a.js";',
  },
  {
    what: "credit importing a learner",
    rule: "core-credit-to-other-room",
    file: "packages/core/src/credit/x.ts",
    source: 'import "../learners/a.js";',
  },
  {
    what: "embedding importing a store",
    rule: "core-embedding-to-other-room",
    file: "packages/core/src/embedding/x.ts",
    source: 'import "../store/a.js";',
  },
  {
    what: "a store importing the ledger",
    rule: "core-store-to-other-room",
    file: "packages/core/src/store/x.ts",
    source: 'import "../ledger/a.js";',
  },
  {
    what: "a learner importing the ledger",
    rule: "core-learners-to-other-room",
    file: "packages/core/src/learners/x.ts",
    source: 'import "../ledger/a.js";',
  },
  {
    what: "the ledger importing the engine",
    rule: "core-ledger-to-other-room",
    file: "packages/core/src/ledger/x.ts",
    source: 'import "../engine/a.js";',
  },
  {
    what: "the engine importing the package's own index",
    rule: "core-engine-to-other-room",
    file: "packages/core/src/engine/x.ts",
    source: 'import "../index.js";',
  },
  {
    what: "the engine importing what adapters share",
    rule: "core-engine-to-other-room",
    file: "packages/core/src/engine/y.ts",
    source: 'import "../adapter/a.js";',
  },
  {
    what: "what adapters share importing a learner",
    rule: "core-adapter-to-other-room",
    file: "packages/core/src/adapter/x.ts",
    source: 'import "../learners/a.js";',
  },
  {
    what: "an adapter's room importing one that stands above it",
    rule: "langchain-runs-to-other-room",
    file: "packages/langchain/src/runs/a.ts",
    source: 'import "../ranking/legal.js";',
  },
  {
    what: "an adapter's room importing what lists the exports",
    rule: "mastra-recall-to-other-room",
    file: "packages/mastra/src/recall/a.ts",
    source: 'import "../index.js";',
  },
  {
    what: "a folder of an adapter that nobody planned",
    rule: "unplanned-room",
    file: "packages/mastra/src/attic/a.ts",
    source: 'import "../index.js";',
  },
  {
    what: "an adapter importing another adapter",
    rule: "mastra-to-other-package",
    file: "packages/mastra/src/a.ts",
    source: 'import "@qavr/langchain";',
  },
  {
    what: "an adapter importing a framework's store",
    rule: "mastra-to-outside",
    file: "packages/mastra/src/b.ts",
    source: 'import "@mastra/libsql";',
  },
  {
    what: "a test reaching into another package's sources by name",
    rule: "deep-import",
    file: "packages/langchain/test/a.test.ts",
    source: 'import "@qavr/core/src/index.js";',
  },
  {
    what: "an example reaching into a package's sources by path",
    rule: "deep-import",
    file: "examples/demo/src/a.ts",
    source: 'import "../../../packages/core/src/index.js";',
  },
  {
    what: "two files that need each other",
    rule: "cycle",
    file: "packages/bench/src/ring-back.ts",
    source: 'import "./ring.js";',
  },
  {
    what: "two files that need each other's types",
    rule: "cycle",
    file: "packages/bench/src/type-ring-back.ts",
    source: 'import type { A } from "./type-ring.js"; export interface B { a: A }',
  },
  {
    what: "sources importing a test",
    rule: "test-code-in-sources",
    file: "packages/bench/src/b.ts",
    source: 'import "../test/a.js";',
  },
  {
    what: "a file without a subject",
    rule: "file-without-a-subject",
    file: "packages/bench/src/c.ts",
    source: 'import "./utils.js";',
  },
  {
    what: "an import of something that does not exist",
    rule: "unresolvable",
    file: "packages/bench/src/d.ts",
    source: 'import "./nowhere.js";',
  },
];

/** Imports that must pass, by file. */
export const legal: Readonly<Record<string, string>> = {
  "packages/core/src/index.ts": 'import "./engine/legal.js";',
  "packages/core/src/engine/legal.ts": 'import "../ledger/a.js"; import "../learners/a.js"; import "../store/a.js";',
  "packages/core/src/engine/legal.test.ts": 'import "node:fs"; import "../learners/a.js";',
  "packages/learners/src/legal.ts": 'import "@qavr/core"; import "@qavr/core/learner";',
  "packages/sqlite/src/legal.ts": 'import "node:sqlite"; import "@qavr/core";',
  "packages/postgres/src/legal.ts": 'import "node:crypto"; import "@qavr/core";',
  "packages/langchain/src/legal.ts": 'import "./default-store.js"; import "@qavr/core";',
  "packages/langchain/src/agents/legal.ts": 'import "../legal.js";',
  "packages/langchain/src/ranking/legal.ts": 'import "../runs/legal.js"; import "../legal.js";',
  "packages/langchain/src/runs/legal.ts": 'import "../legal.js";',
  "packages/langchain/test/legal.test.ts": 'import "@qavr/sqlite"; import "@qavr/store-conformance";',
  "examples/demo/src/legal.ts": 'import "@qavr/langchain"; import "@qavr/lab";',
};

/** Files that the others import, by path. */
export const scenery: Readonly<Record<string, string>> = {
  "packages/core/package.json": '{ "name": "@qavr/core", "type": "module", "exports": "./dist/index.mjs" }',
  "packages/core/dist/index.mjs": "export {};",
  "packages/core/src/errors/a.ts": "export {};",
  "packages/core/src/store/a.ts": "export {};",
  "packages/core/src/adapter/a.ts": "export {};",
  "packages/core/src/learners/a.ts": "export {};",
  "packages/core/src/ledger/a.ts": "export {};",
  "packages/mastra/src/index.ts": "export {};",
  "packages/bench/src/ring.ts": 'import "./ring-back.js";',
  "packages/bench/src/type-ring.ts": 'import type { B } from "./type-ring-back.js"; export interface A { b: B }',
  "packages/bench/src/utils.ts": "export {};",
  "packages/bench/test/a.ts": "export {};",
};
