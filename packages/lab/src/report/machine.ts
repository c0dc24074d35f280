import { createRequire } from "node:module";
import { cpus, loadavg, totalmem } from "node:os";

/** The machine of a benchmark. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Mean number of runnable processes, over the last minute. */
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

/**
 * Versions of Node, its SQLite and npm packages.
 *
 * @param importer address of the module that the packages are resolved from: `import.meta.url`
 */
export function installedVersions(importer: string, ...packages: readonly string[]): Readonly<Record<string, string>> {
  const load = createRequire(importer);
  const versions = packages.map((name) => [name, (load(`${name}/package.json`) as { version: string }).version]);
  return {
    node: process.versions.node,
    SQLite: process.versions.sqlite ?? "unknown",
    ...Object.fromEntries(versions),
  };
}

/** The machine and the versions on it, for one line of a page. */
export function machineText(
  { cpu, cores, memoryGiB, load }: Machine,
  versions: Readonly<Record<string, string>>,
): string {
  const installed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, load average ${load}; ${installed.join(", ")}`;
}
