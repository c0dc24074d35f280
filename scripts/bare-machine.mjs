// `node scripts/bare-machine.mjs [demo] [test]` runs the README's commands in a fresh clone without a compiler, Python, Node's headers and
// files in HOME, and prints a table. It needs git; this machine's Node and npm are used. Without names it runs both commands.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const BUILD_TOOLS =
  /^(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|make|gmake|cmake|ninja|ld|as)(-\d.*)?$|-(gcc|g\+\+|cc)(-\d.*)?$|^python/;

/** Everything on the PATH but compilers and Python, as links in one folder. */
function pathWithoutBuildTools(folder) {
  mkdirSync(folder);
  const taken = new Set();
  for (const place of (process.env.PATH ?? "").split(delimiter)) {
    let names = [];
    try {
      names = readdirSync(place);
    } catch {
      // A folder of the PATH need not exist.
    }
    for (const name of names) {
      if (taken.has(name) || BUILD_TOOLS.test(name)) continue;
      taken.add(name);
      symlinkSync(join(place, name), join(folder, name));
    }
  }
  return folder;
}

const root = mkdtempSync(join(tmpdir(), "qavr-bare-"));
const HOME = join(root, "home");
mkdirSync(HOME);
const environment = {
  ...process.env,
  HOME,
  PATH: pathWithoutBuildTools(join(root, "bin")),
  CI: "1",
  // Headers of Node are neither here nor fetched.
  npm_config_nodedir: join(root, "nowhere"),
};

const commands = process.argv.length > 2 ? process.argv.slice(2) : ["demo", "test"];
const clone = join(root, "clone");
spawnSync("git", ["clone", "--quiet", "--depth", "1", `file://${REPOSITORY}`, clone], { stdio: "inherit" });
console.log("| command | Node | result | hnswlib-node | time |\n|---|---|---|---|---|");
for (const command of commands) {
  const started = performance.now();
  const run = spawnSync("npx", ["-y", "pnpm@12", command], {
    cwd: clone,
    env: environment,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  const compiled = existsSync(join(clone, "packages/bench/node_modules/hnswlib-node")) ? "compiled" : "left out";
  const result = run.status === 0 ? "works" : `fails (${run.status})`;
  console.log(`| \`npx -y pnpm@12 ${command}\` | ${process.versions.node} | ${result} | ${compiled} | ${seconds} s |`);
  if (run.status !== 0) process.stderr.write(`${run.stdout.slice(-3000)}\n${run.stderr.slice(-3000)}\n`);
}
rmSync(root, { recursive: true, force: true });
