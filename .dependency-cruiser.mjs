/**
 * Who may import whom. `pnpm lint` runs this over the sources; packages/checks plants a violation of every rule and expects
 * it to be caught. The same arrows in prose: docs/explanation/architecture.md.
 */

/** What the sources of a package may import from the workspace, and from outside it (`node:` stands for Node's built-ins). */
const PACKAGES = {
  core: { workspace: [], outside: [] },
  sqlite: { workspace: ["core"], outside: ["node:"] },
  "store-conformance": { workspace: ["core"], outside: ["vitest", "fast-check"] },
  langchain: { workspace: ["core"], outside: ["@langchain/core", "node:"] },
  bench: { workspace: ["core", "sqlite", "store-conformance", "langchain"], outside: undefined },
  faults: { workspace: ["core", "sqlite", "bench"], outside: undefined },
};

/** The one file of an adapter that may load its default store, and only lazily: users who bring a store never load SQLite. */
const LAZY_DEFAULT_STORE = "^packages/langchain/src/default-store\\.ts$";

/** What each room of core may import besides itself. `src/index.ts` lists the exports and may see all of them. */
const CORE_ROOMS = {
  errors: [],
  scoring: ["errors"],
  store: ["errors"],
  embedding: ["scoring", "errors"],
  credit: ["scoring", "errors"],
  learners: ["scoring", "credit", "embedding", "errors"],
  ledger: ["learners", "credit", "scoring", "embedding", "store", "errors"],
  engine: ["ledger", "learners", "credit", "scoring", "embedding", "store", "errors"],
};

const TEST = "\\.test(-d)?\\.ts$";
const any = (names) => `(${names.join("|")})`;

/** A workspace package by its built file, its sources or, while it is not built, by its bare name. */
const workspace = (names) => `^(packages/${any(names)}/|@qavr/${any(names)}(/|$))`;

function packageRules([name, { workspace: allowed, outside }]) {
  const from = { path: `^packages/${name}/src/`, pathNot: TEST };
  const others = Object.keys(PACKAGES).filter((other) => other !== name && !allowed.includes(other));
  const rules = [
    {
      name: `${name}-to-other-package`,
      comment: `${name} may import ${allowed.length === 0 ? "no other package" : allowed.join(", ")} of this workspace.`,
      severity: "error",
      from: name === "langchain" ? { ...from, pathNot: [TEST, LAZY_DEFAULT_STORE] } : from,
      to: { path: workspace(others) },
    },
  ];
  if (outside) {
    const builtins = outside.includes("node:");
    const packages = outside.filter((entry) => entry !== "node:").map((entry) => `(^|/)${entry}(/|$)`);
    rules.push({
      name: `${name}-to-outside`,
      comment: `${name} may import ${outside.length === 0 ? "nothing" : outside.join(", ")} from outside this workspace.`,
      severity: "error",
      from,
      to: {
        dependencyTypesNot: ["local", ...(builtins ? ["core"] : [])],
        pathNot: ["^packages/", "^@qavr/", "^\\.", ...packages],
      },
    });
  }
  return rules;
}

function roomRule([room, allowed]) {
  return {
    name: `core-${room}-to-other-room`,
    comment: `core/${room} may import ${allowed.length === 0 ? "no other room" : allowed.join(", ")}.`,
    severity: "error",
    from: { path: `^packages/core/src/${room}/`, pathNot: TEST },
    to: { path: "^packages/core/src/", pathNot: `^packages/core/src/${any([room, ...allowed])}/` },
  };
}

export default {
  forbidden: [
    ...Object.entries(PACKAGES).flatMap(packageRules),
    ...Object.entries(CORE_ROOMS).map(roomRule),
    {
      name: "default-store-not-lazy",
      comment: "The adapter's default store is loaded by `import()` when the user names none.",
      severity: "error",
      from: { path: LAZY_DEFAULT_STORE },
      to: { path: workspace(["sqlite"]), dynamic: false },
    },
    {
      name: "unplanned-package",
      comment: "A new package states its arrows here first.",
      severity: "error",
      from: { path: "^packages/", pathNot: `^packages/${any([...Object.keys(PACKAGES), "checks"])}/` },
      to: {},
    },
    {
      name: "unplanned-room",
      comment: "A new folder of core states its arrows here first.",
      severity: "error",
      from: { path: "^packages/core/src/[^/]+/", pathNot: `^packages/core/src/${any(Object.keys(CORE_ROOMS))}/` },
      to: {},
    },
    {
      name: "deep-import",
      comment: "Another package is imported by its name: what its index does not list is private.",
      severity: "error",
      from: { path: "^(packages|examples)/([^/]+)/" },
      to: { path: ["^@qavr/[^/]+/(src|dist|test)/", "^packages/[^/]+/src/"], pathNot: "^$1/$2/" },
    },
    {
      name: "cycle",
      comment: "Files that need each other at run time are one file or want a third; types may refer to each other.",
      severity: "error",
      from: { path: "/(src|test|published)/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "test-code-in-sources",
      comment: "Sources never import tests.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: TEST },
      to: { path: [TEST, "^packages/[^/]+/test/"] },
    },
    {
      name: "file-without-a-subject",
      comment: "A file is named for the one thing it holds.",
      severity: "error",
      from: {},
      to: { path: "/(utils|util|helpers|misc|common)\\.ts$", pathNot: "node_modules" },
    },
    {
      name: "unresolvable",
      comment: "The import names nothing that exists.",
      severity: "error",
      from: { path: "/(src|test|published)/" },
      to: { couldNotResolve: true, pathNot: "^@qavr/" },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "/dist/"] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
