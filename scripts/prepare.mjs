// `node scripts/prepare.mjs <package>` installs and builds a package and its dependencies, without the tools of their tests. Where
// everything is installed, everything stays. The root's `dependencies` are the build tools and the peers of packages. It runs on the Node
// of the machine: the one of this workspace may not be here yet.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

const manifests = new Map(
  ["packages", "examples"]
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}/package.json`))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, "utf8")))
    .map((manifest) => [manifest.name, manifest]),
);
const needed = new Set([process.argv[2]]);
for (const name of needed) {
  for (const dependency of Object.keys(manifests.get(name).dependencies ?? {})) {
    if (manifests.has(dependency)) needed.add(dependency);
  }
}

const filters = [...needed].map((name) => `--filter=${name}`).join(" ");
const isComplete = existsSync("node_modules/vitest");
run(isComplete ? "pnpm install" : `pnpm install --prod --filter=qavr-workspace ${filters}`);
run(`turbo run build --only --output-logs=errors-only ${filters}`);

/** Standard output belongs to the command that follows. */
function run(command) {
  const { status } = spawnSync(command, { shell: true, stdio: ["ignore", process.stderr, process.stderr] });
  if (status !== 0) process.exit(status ?? 1);
}
