import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command } from "../src/command.js";
import { createConsumer } from "../src/consumer.js";
import { packAll } from "../src/pack.js";
import { type PublishedPackage, publishedPackages, readManifest } from "../src/published-packages.js";
import { repositoryFile } from "../src/repository.js";

/** vitest refuses `require()`, so what is built on it can only be imported. */
const ESM_ONLY = new Set(["@qavr/store-conformance"]);
/** Full-text search is in Node's SQLite from 22.16 on. */
const OLDEST_NODE: Readonly<Record<string, string>> = { "@qavr/local": ">=22.16", "@qavr/markdown": ">=22.16" };

const packages = publishedPackages();

describe("published packages", () => {
  let folder: string;
  let tarballs: ReadonlyMap<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "qavr-published-"));
    tarballs = await packAll(packages, folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe.each(packages.map((entry): [string, PublishedPackage] => [entry.manifest.name, entry]))(
    "%s",
    (name, entry) => {
      const tarball = (): string => tarballs.get(name) as string;

      it("describes itself in its package.json", () => {
        expect(entry.manifest).toMatchObject({
          license: "Apache-2.0",
          type: "module",
          sideEffects: false,
          engines: { node: OLDEST_NODE[name] ?? ">=22.13" },
          description: expect.stringMatching(/.{20,}/),
        });
      });

      it("ships its build, README, LICENSE and change log and no sources or tests", async () => {
        const { stdout } = await command("tar", ["-tzf", tarball()], { cwd: folder });
        const files = stdout
          .split("\n")
          .filter(Boolean)
          .map((path) => path.replace("package/", ""));
        expect(files).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE", "CHANGELOG.md"]));
        expect(
          files.filter((path) => !/^dist\/|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path)),
        ).toEqual([]);
      });

      it("carries the repository's licence word for word", async () => {
        const text = (path: string): Promise<string> => readFile(path, "utf8");
        expect(await text(join(entry.folder, "LICENSE"))).toBe(await text(repositoryFile("LICENSE")));
      });

      it("passes publint in strict mode", async () => {
        const { exitCode, output } = await command("publint", [tarball(), "--strict"], { cwd: folder });
        expect(exitCode, output).toBe(0);
      });

      // A program has no entry to import.
      if (entry.manifest.bin) {
        it("installs into an empty folder, and leads there from demo to status, why, doctor, dashboard and MCP server", async () => {
          const consumer = await createConsumer(join(folder, "consumer-program"), entry, tarballs);
          for (const [program, file] of Object.entries(entry.manifest.bin ?? {})) {
            const module = JSON.stringify(`./node_modules/${name}/${file}`);
            const started = await consumer.node(
              `process.argv = ["node", "${program}", "--help"]; await import(${module})`,
            );
            expect(started.exitCode, started.output).toBe(0);
            expect(started.stdout).toContain(`Usage: ${program}`);
          }
          const steps = await consumer.node(`
            import { execFileSync, spawn } from "node:child_process";
            const main = "node_modules/qavr/dist/main.mjs";
            const qavr = (...args) =>
              JSON.parse(execFileSync(process.execPath, [main, ...args, "--json"], { encoding: "utf8" })).data;
            const { store } = qavr("demo", "--runs", "80");
            const status = qavr("status", "-s", store);
            const [{ episode }] = qavr("runs", "-s", store).runs;
            const { run } = qavr("why", episode, "-s", store);
            const { findings } = qavr("doctor", "-s", store);
            const child = spawn(process.execPath, [main, "dashboard", "-s", store, "--port", "0", "--json"]);
            const printed = await new Promise((resolve) => child.stdout.once("data", resolve));
            const url = new URL(JSON.parse(printed).data.url);
            const page = await (await fetch(url)).text();
            const script = await (await fetch(new URL("app.js", url))).text();
            child.kill();
            const mcp = spawn(process.execPath, [main, "mcp", "-s", store]);
            const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "editor", version: "1" } };
            mcp.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }) + "\\n");
            const answered = await new Promise((resolve) => mcp.stdout.once("data", resolve));
            mcp.stdin.end();
            console.log(JSON.stringify({
              taught: status.runs.taught, shown: run.exposures[0].items.length, findings: findings.length,
              page: page.includes('id="app"'), script: script.length > 1000,
              mcp: JSON.parse(answered).result.serverInfo.name,
            }));
          `);
          expect(steps.exitCode, steps.output).toBe(0);
          expect(JSON.parse(steps.stdout)).toEqual({
            taught: 80,
            shown: 3,
            findings: 0,
            page: true,
            script: true,
            mcp: "qavr",
          });
        });
      } else {
        it("has types that are right for every way of resolving it", async () => {
          const profile = ESM_ONLY.has(name) ? "esm-only" : "strict";
          const { exitCode, output } = await command(
            "attw",
            [tarball(), "--profile", profile, "--no-definitely-typed"],
            {
              cwd: folder,
            },
          );
          expect(exitCode, output).toBe(0);
        });

        it("installs into an empty folder, and every entry can be imported and required there", async () => {
          const consumer = await createConsumer(join(folder, `consumer-${name.split("/")[1]}`), entry, tarballs);
          const entries = Object.keys(entry.manifest.exports).filter((path) => !path.endsWith(".json"));
          expect(entries).toContain(".");
          for (const specifier of entries.map((path) => path.replace(".", name))) {
            const imported = await consumer.node(
              `import * as exported from "${specifier}"; console.log(Object.keys(exported).join())`,
            );
            expect(imported.exitCode, imported.output).toBe(0);
            const names = imported.stdout.trim().split(",").sort();
            expect(names.join()).not.toBe("");
            if (ESM_ONLY.has(name)) continue;
            const required = await consumer.node(
              `import { createRequire } from "node:module"; console.log(Object.keys(createRequire(import.meta.url)("${specifier}")).join())`,
            );
            expect(required.exitCode, required.output).toBe(0);
            expect(required.stdout.trim().split(",").sort()).toEqual(names);
          }
        });
      }

      it("depends on what it imports by released versions only", async () => {
        await command("tar", ["-xzf", tarball(), "-C", folder, "package/package.json"], { cwd: folder });
        const packed = readManifest(join(folder, "package"));
        const ranges = Object.values({ ...packed.dependencies, ...packed.peerDependencies });
        expect(ranges.filter((range) => /^(workspace|catalog|link|file):/.test(range))).toEqual([]);
      });
    },
  );

  it("have distinct tarballs in one folder", async () => {
    expect((await readdir(folder)).filter((file) => file.endsWith(".tgz"))).toHaveLength(packages.length);
  });
});
