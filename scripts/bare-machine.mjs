// `node scripts/bare-machine.mjs [demo] [test]` runs the README's commands in a fresh clone on a machine that lacks something, and
// prints a table. It needs git; the machine's own Node and npm are used. Without names it runs both commands.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
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
const nothing = /^$/;
const MACHINES = {
  "no compiler": { PATH: pathWithout(COMPILERS, join(root, "no-compiler")) },
  "no Python": { PATH: pathWithout(PYTHONS, join(root, "no-python")) },
  "no node headers": { PATH: pathWithout(nothing, join(root, "all")), npm_config_nodedir: join(root, "nowhere") },
  "empty HOME": { HOME: join(root, "home") },
};
mkdirSync(join(root, "home"));

const commands = process.argv.length > 2 ? process.argv.slice(2) : ["demo", "test"];
const rows = [];
for (const [machine, changes] of Object.entries(MACHINES)) {
  const clone = join(root, "clone");
  spawnSync("git", ["clone", "--quiet", "--depth", "1", `file://${REPOSITORY}`, clone], { stdio: "inherit" });
  const environment = { ...process.env, HOME: homedir(), CI: "1", ...changes };
  for (const command of commands) {
    const started = performance.now();
    const run = spawnSync("npx", ["-y", "pnpm@12", command], {
      cwd: clone,
      env: environment,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    const seconds = Math.round((performance.now() - started) / 1000);
    const last = `${run.stdout}`.trimEnd().split("\n").at(-1) ?? "";
    rows.push(
      `| ${machine} | ${command} | ${run.status === 0 ? "works" : `fails (${run.status})`} | ${seconds} s | ${last.slice(0, 80)} |`,
    );
    if (run.status !== 0) process.stderr.write(`${run.stdout.slice(-3000)}\n${run.stderr.slice(-3000)}\n`);
  }
  rmSync(clone, { recursive: true, force: true });
}
rmSync(root, { recursive: true, force: true });
console.log(
  `Node ${process.version}\n\n| machine | command | result | time | last line |\n|---|---|---|---|---|\n${rows.join("\n")}`,
);
