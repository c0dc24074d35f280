import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { CONTENDERS, HNSW } from "./contenders.js";
import { buildCorpus } from "./corpus.js";
import type { Probe, Probed } from "./probe.js";
import { type LocalResults, localSummary, reportPage, type SizeResult } from "./report.js";

/** Numbers of texts and requests. */
const LOOK = { sizes: [2_000, 10_000], requests: 30 };
const FULL = { sizes: [1_000, 10_000, 100_000], requests: 100 };

const installed = (name: string): URL => new URL(`../../node_modules/${name}/package.json`, import.meta.url);
const HAS_HNSW = existsSync(installed("hnswlib-node"));
/** `minisearch` does not export its package.json. */
const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(installed(name), "utf8")) as { version: string }).version;
const contenders = CONTENDERS.filter(({ name }) => name !== HNSW || HAS_HNSW);

async function probed(probe: Probe): Promise<Probed> {
  const script = fileURLToPath(new URL("probe.mjs", import.meta.url));
  const args = ["--expose-gc", "--max-old-space-size=8192", script, JSON.stringify(probe)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 });
  return JSON.parse(stdout) as Probed;
}

async function measureLocal(full: boolean): Promise<LocalResults> {
  const { sizes, requests } = full ? FULL : LOOK;
  await using root = await mkdtempDisposable(join(tmpdir(), "qavr-bench-local-"));
  const measured: SizeResult[] = [];
  for (const size of sizes) {
    const { vectors, ...corpus } = await buildCorpus(size, 2 * requests);
    const folder = join(root.path, String(size));
    await mkdir(folder);
    await writeFile(join(folder, "corpus.json"), JSON.stringify(corpus));
    await writeFile(join(folder, "vectors.bin"), new Uint8Array(vectors.buffer));
    await withProgress(`${size} texts`, async (onProgress) => {
      for (const [i, { name, open }] of contenders.entries()) {
        const filled = await probed({ contender: name, folder, step: "fill" });
        const opened = open ? await probed({ contender: name, folder, step: "open" }) : filled;
        const { ready, ...searched } = opened;
        measured.push({ size, name, fill: filled.ready, open: ready, ...searched });
        onProgress((i + 1) / contenders.length);
      }
    });
  }
  return { measured };
}

await runBenchmark({
  name: "local",
  help: "A look takes two minutes; --full half an hour and 4 GB of memory.",
  versions: () => ({
    ...installedVersions(import.meta.url, ...(HAS_HNSW ? ["hnswlib-node"] : [])),
    minisearch: versionOf("minisearch"),
  }),
  measure: measureLocal,
  summary: localSummary,
  page: reportPage,
});
