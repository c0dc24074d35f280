import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export interface ChildResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Path of a fixture that child processes run. Fixtures import the built packages: build them before these tests. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** Runs a fixture in a process of its own to its end. @param flags of Node */
export function runChild(name: string, args: readonly string[], flags: readonly string[] = []): Promise<ChildResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, fixture(name), ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    child.on("error", reject);
    child.on("close", async (code) => resolve({ code, stdout: await stdout, stderr: await stderr }));
  });
}
