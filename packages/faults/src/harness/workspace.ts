import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Runs `work` with a folder of its own, which is gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-faults-"));
  return await work(folder.path);
}

/** Path of a program that harnesses run in a process of its own. It imports the built packages. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
}

/** Runs a system command to its end. @throws when it fails, with what it said */
export function system(command: string, ...given: string[]): void {
  const { status, stderr, error } = spawnSync(command, given, { encoding: "utf8" });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${given.join(" ")}: ${stderr}`);
}

/** True when a system command exists and succeeds. */
export function has(command: string, ...given: string[]): boolean {
  return spawnSync(command, given, { stdio: "ignore" }).status === 0;
}

/** True when file systems may be mounted: needs root and a kernel that allows it. */
export function mayMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), "qavr-mount-"));
  const mounted =
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" }).status === 0;
  if (mounted) spawnSync("umount", [folder], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
  return mounted;
}
