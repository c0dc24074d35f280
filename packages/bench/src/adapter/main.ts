import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installedVersions } from "../report/machine.js";
import { resultLines } from "../report/speed-tables.js";
import { measureInterleaved } from "../speed/measure.js";
import { speedReport } from "../speed/report.js";
import { buildDocumentIndex } from "./document-index.js";
import { adapterParts } from "./parts.js";
import { adapterPage } from "./report.js";
import { adapterResults } from "./targets.js";
import { warmMemory } from "./warm-memory.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

const note = (line: string): void => void process.stderr.write(`${line}\n`);

note("building the index");
const index = await buildDocumentIndex();
note("warming the memory");
const warm = await warmMemory(index);
note("measuring");
const measurements = await measureInterleaved(await adapterParts(index, warm));
const report = speedReport(measurements, adapterResults(measurements), installedVersions(), "pnpm bench:adapter");
process.stdout.write(`${resultLines(report.results).join("\n")}\n`);
await mkdir(DOCS, { recursive: true });
await writeFile(join(DOCS, "adapter.md"), adapterPage(report));
await writeFile(join(DOCS, "adapter.json"), `${JSON.stringify(report, undefined, 2)}\n`);
note("written: docs/benchmarks/adapter.md and adapter.json");
await warm.memory.close();
