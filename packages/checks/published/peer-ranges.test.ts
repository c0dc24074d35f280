import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "../src/command.js";
import { createConsumer, type Installation } from "../src/consumer.js";
import { packAll } from "../src/pack.js";
import { type PublishedPackage, publishedPackages, readManifest } from "../src/published-packages.js";
import { repositoryFile } from "../src/repository.js";

const packages = publishedPackages();
const langchain = packages.find(({ manifest }) => manifest.name === "@qavr/langchain") as PublishedPackage;

/** The version of a peer that the workspace has: the newest that was tested. */
const installed = (peer: string): string => readManifest(join(langchain.folder, "node_modules", peer)).version;

/** The lowest version that a range of ours allows. */
const lowest = (peer: string): string =>
  /\d+\.\d+\.\d+/.exec(langchain.manifest.peerDependencies?.[peer] ?? "")?.[0] ?? "";

/** With an old core go the old versions of what stands on it; their own ranges would bring the newest. */
const OLD = { "@langchain/langgraph-checkpoint": "1.0.0" };

/** At its lowest, `langchain` 1.2.20 asks for a newer core and LangGraph than we do. */
const LOWEST_FOR_AGENTS = { "@langchain/core": "1.1.21", "@langchain/langgraph": "1.1.2" };

const pick = (versionOf: (peer: string) => string, ...peers: string[]): Record<string, string> =>
  Object.fromEntries(peers.map((peer) => [peer, versionOf(peer)]));

const MAIN = ["@langchain/core", "@langchain/langgraph"] as const;
const AGENTS = [...MAIN, "langchain", "zod"] as const;
const FEEDBACK = ["@langchain/core", "langsmith", "zod"] as const;

const REFLECTED =
  "restart the database | restart the worker | committed 1 remember,report_outcome 0\n1 votes 1 ignored unknown 2 findings";

const applications: readonly [what: string, file: string, printed: string, installation: Installation][] = [
  [
    "the main entry at the lowest peers",
    "main-entry.ts",
    "[m2] from the store 2",
    { peers: pick(lowest, ...MAIN), pins: OLD },
  ],
  ["the main entry at the newest peers", "main-entry.ts", "[m2] from the store 2", { peers: pick(installed, ...MAIN) }],
  [
    "agents at the lowest peers",
    "agents.ts",
    "[m1] restart it 2",
    { peers: { ...pick(lowest, ...AGENTS), ...LOWEST_FOR_AGENTS }, pins: { ...OLD, ...LOWEST_FOR_AGENTS } },
  ],
  [
    "agents at the newest peers",
    "agents.ts",
    "[m1] restart it 2",
    { peers: pick(installed, ...AGENTS), pins: pick(installed, "@langchain/langgraph") },
  ],
  ["feedback and reflection at the lowest peers", "feedback.ts", REFLECTED, { peers: pick(lowest, ...FEEDBACK) }],
  ["feedback and reflection at the newest peers", "feedback.ts", REFLECTED, { peers: pick(installed, ...FEEDBACK) }],
];

const COMPILER = {
  strict: true,
  noUncheckedIndexedAccess: true,
  target: "ES2023",
  lib: ["ES2024", "DOM"],
  types: ["node"],
  noEmit: true,
  // Our declarations are checked too; what is wrong in others' is left out below.
  skipLibCheck: false,
};
/** How users compile: by Node's own rules or a bundler's. */
const RESOLUTIONS = {
  node: { module: "NodeNext" },
  bundler: { module: "Preserve", moduleResolution: "Bundler" },
};

describe("an application of @qavr/langchain", () => {
  let folder: string;
  let tarballs: ReadonlyMap<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "qavr-peers-"));
    tarballs = await packAll(packages, folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(applications)("compiles strictly and runs: %s", async (what, file, printed, installation) => {
    const application = join(folder, what.replaceAll(" ", "-"));
    const core = tarballs.get("@qavr/core") as string;
    const extra = { "@qavr/core": `file:${core}`, "@types/node": "24.3.0" };
    await createConsumer(application, langchain, tarballs, { ...installation, extra });
    await copyFile(repositoryFile(`packages/checks/applications/${file}`), join(application, "application.ts"));
    for (const [resolution, options] of Object.entries(RESOLUTIONS)) {
      const project = `tsconfig.${resolution}.json`;
      const config = { compilerOptions: { ...COMPILER, ...options }, files: ["application.ts"] };
      await writeFile(join(application, project), JSON.stringify(config));
      const { output } = await command("tsc", ["-p", project], { cwd: application });
      expect(output.split("\n").filter((line) => /^application\.ts|@qavr/.test(line))).toEqual([]);
    }
    const ran = await command("node", ["application.ts"], { cwd: application });
    expect(ran.exitCode, ran.output).toBe(0);
    expect(ran.stdout.trim()).toBe(printed);
  });
});
