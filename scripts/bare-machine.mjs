// `node scripts/bare-machine.mjs [demo] [test]` runs the README's commands in a fresh clone on a machine that lacks something, and
// prints a table. It needs git; the machine's own Node and npm are used. Without names it runs both commands.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const COMPILERS =
  /^(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|make|gmake|cmake|ninja|ld|as)(-\d.*)?$|-(gcc|g\+\+|cc)(-\d.*)?$/;
const PYTHONS = /^python/;

/** Everything on the PATH but the programs of a pattern, as links in one folder. */
function pathWithout(pattern, folder) {
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
      if (taken.has(name) || pattern.test(name)) continue;
      taken.add(name);
      symlinkSync(join(place, name), join(folder, name));
    }
  }
  return folder;
}

const root = mkdtempSync(join(tmpdir(), "qavr-bare-"));
const noHeaders = { npm_config_nodedir: join(root, "nowhere") };
const emptyHome = { HOME: join(root, "home") };
mkdirSync(emptyHome.HOME);
const MACHINES = {
  "all of these": {
    ...noHeaders,
    ...emptyHome,
    PATH: pathWithout(new RegExp(`${COMPILERS.source}|${PYTHONS.source}`), join(root, "nothing")),
  },
  "a compiler": { PATH: pathWithout(COMPILERS, join(root, "no-compiler")) },
  Python: { PATH: pathWithout(PYTHONS, join(root, "no-python")) },
  "headers of Node": noHeaders,
  "files in HOME": emptyHome,
};

const commands = process.argv.length > 2 ? process.argv.slice(2) : ["demo", "test"];
console.log(`Node ${process.version}\n\n| without | command | result | hnswlib-node | time |\n|---|---|---|---|---|`);
for (const [machine, changes] of Object.entries(MACHINES)) {
  const clone = join(root, "clone");
  spawnSync("git", ["clone", "--quiet", "--depth", "1", `file://${REPOSITORY}`, clone], { stdio: "inherit" });
  // Without pnpm's cache of what was compiled before, on this machine.
  const environment = { ...process.env, HOME: homedir(), CI: "1", pnpm_config_side_effects_cache: "false", ...changes };
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
    console.log(`| ${machine} | \`npx -y pnpm@12 ${command}\` | ${result} | ${compiled} | ${seconds} s |`);
    if (run.status !== 0) process.stderr.write(`${run.stdout.slice(-3000)}\n${run.stderr.slice(-3000)}\n`);
  }
  rmSync(clone, { recursive: true, force: true });
}
rmSync(root, { recursive: true, force: true });
