import { createRequire } from "node:module";
import { cpus, loadavg, totalmem } from "node:os";

/** What a benchmark ran on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Mean number of processes that wanted to run, over the last minute. */
  readonly load: number;
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Number((loadavg()[0] as number).toFixed(1)),
  };
}

/** Versions of what the numbers depend on, beside this repository. */
export function installedVersions(): Readonly<Record<string, string>> {
  const { version } = createRequire(import.meta.url)("hnswlib-node/package.json") as { version: string };
  return { node: process.versions.node, "hnswlib-node": version, SQLite: process.versions.sqlite ?? "unknown" };
}

/** The machine and the versions on it, for one line of a page. */
export function machineText(
  { cpu, cores, memoryGiB, load }: Machine,
  versions: Readonly<Record<string, string>>,
): string {
  const installed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, load average ${load}; ${installed.join(", ")}`;
}
