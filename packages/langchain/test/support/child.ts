import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A fixture's last line about its memory. */
export interface Account {
  readonly credit: Record<string, number>;
  readonly suspended: number;
  readonly open: number;
  readonly recorded: number;
  readonly completed: number;
  readonly failed?: string;
  readonly told?: string;
  readonly isWhole?: boolean;
}

/** Path of a fixture. Fixtures import the built packages: build them before these tests. */
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** Runs Node in a process of its own to its end and returns what it printed. @throws when it exits with an error */
export async function runNode(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...args], { env: { ...process.env, ...env } });
  return stdout;
}

/** Runs a fixture that gives an account of its memory. */
export async function account(name: string, ...args: readonly string[]): Promise<Account | undefined> {
  const stdout = await runNode([fixture(name), ...args]);
  return stdout === "" ? undefined : (JSON.parse(stdout) as Account);
}

/** Kills a fixture once it has printed so many lines, and returns the last line that it had printed by then. */
export async function killed(lines: number, name: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [fixture(name), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let last = "";
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    count += 1;
    if (count === lines) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return last;
}
