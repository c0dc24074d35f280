import { existsSync } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { type CommandResult, command } from "./command.js";
import { repositoryFile } from "./repository.js";

/** A JavaScript runtime that the loop is tried on. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** npm package that brings it; undefined for the workspace's own Node. */
  readonly install?: string;
  /** Version of its SQLite, and true where that is safe for several processes; undefined without SQLite. */
  readonly sqlite?: { readonly version: string; readonly sharesFiles: boolean };
  /** Starts `runtimes/process.mjs` or, without SQLite, a bundle of `runtimes/worker.mjs`. */
  readonly start: (folder: string, binary: string) => Promise<CommandResult>;
}

const SOURCES = repositoryFile("packages/checks/runtimes");

const asProcess =
  (...flags: readonly string[]) =>
  (folder: string, binary: string): Promise<CommandResult> =>
    command(binary, [...flags, "process.mjs", folder], { cwd: SOURCES });

async function asWorker(folder: string, binary: string): Promise<CommandResult> {
  await build({
    entryPoints: [join(SOURCES, "worker.mjs")],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker"],
    logLevel: "silent",
  });
  const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")], compatibilityDate = "2026-11-01"))]);`;
  await writeFile(join(folder, "config.capnp"), configuration);
  return command(binary, ["test", "config.capnp"], { cwd: folder });
}

const node = (version: string, sqlite: NonNullable<Runtime["sqlite"]>): Runtime => ({
  name: "Node",
  version,
  install: "node",
  sqlite,
  start: asProcess(),
});

/** The oldest Node that the packages claim, and a runtime without files. */
export const RUNTIMES_IN_CI: readonly Runtime[] = [
  node("22.13.0", { version: "3.47.2", sharesFiles: false }),
  { name: "workerd", version: "1.20261117.1", install: "workerd", start: asWorker },
];

/** Installed, these would take another 400 MB. */
export const OTHER_RUNTIMES: readonly Runtime[] = [
  node("22.23.3", { version: "3.51.3", sharesFiles: true }),
  {
    name: "Node",
    version: process.versions.node,
    sqlite: { version: process.versions.sqlite as string, sharesFiles: true },
    start: asProcess(),
  },
  {
    name: "Bun",
    version: "1.4.5",
    install: "bun",
    sqlite: { version: "3.54.1", sharesFiles: true },
    start: asProcess(),
  },
  {
    name: "Deno",
    version: "2.9.6",
    install: "deno",
    sqlite: { version: "3.53.2", sharesFiles: true },
    start: asProcess("run", "-A", "--node-modules-dir=manual"),
  },
];

/**
 * Runs the loop once on a runtime, which is installed from npm into `.cache/runtimes` the first time.
 *
 * @returns what the loop printed
 * @throws Error with the output when the installation or the program fails
 */
export async function runLoop(runtime: Runtime): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "qavr-runtime-"));
  const { exitCode, output } = await runtime.start(folder, await binaryOf(runtime));
  const line = output.split("\n").find((text) => text.startsWith("{"));
  if (exitCode !== 0 || line === undefined) throw new Error(`The loop failed on ${runtime.name}:\n${output}`);
  return JSON.parse(line);
}

/** Path of a runtime's program, which is installed if it is missing. */
async function binaryOf({ install, version }: Runtime): Promise<string> {
  if (install === undefined) return process.execPath;
  const folder = repositoryFile(`.cache/runtimes/${install}-${version}`);
  const binary = join(folder, "node_modules/.bin", install);
  if (existsSync(binary)) return binary;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }');
  const flags = ["--no-audit", "--no-fund", "--no-save", "--prefer-offline"];
  const { exitCode, output } = await command("npm", ["install", ...flags, `${install}@${version}`], { cwd: folder });
  if (exitCode !== 0) throw new Error(`npm could not install ${install}@${version}:\n${output}`);
  return binary;
}
