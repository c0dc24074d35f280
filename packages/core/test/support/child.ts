import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export interface ChildResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a fixture in a process of its own to its end. Fixtures import the built packages. @param flags of Node */
export function runFixture(fixture: URL, args: readonly string[], flags: readonly string[] = []): Promise<ChildResult> {
  return new Promise((resolve, reject) => {
    const command = [...flags, fileURLToPath(fixture), ...args];
    const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    child.on("error", reject);
    child.on("close", async (code) => resolve({ code, stdout: await stdout, stderr: await stderr }));
  });
}
