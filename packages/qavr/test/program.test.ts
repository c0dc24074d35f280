import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ledgerFile, newPath } from "./support/ledgers.js";

describe("the program", () => {
  const start = (stdout: number | "ignore", ...args: string[]): ChildProcess => {
    const program = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));
    return spawn(process.execPath, [program, ...args], { stdio: ["ignore", stdout, "pipe"] });
  };

  it.skipIf(!existsSync("/dev/full"))("says why its output cannot be written, such as on a full disk", async () => {
    const full = openSync("/dev/full", "w");
    const child = start(full, "runs", "-s", await ledgerFile({ runs: 1 }));
    closeSync(full);
    const [said, [exitCode]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, "exit")]);
    expect(said).toBe("error: standard output takes no more: ENOSPC.\n");
    expect(exitCode).toBe(1);
  });

  it("keeps its exit code where its messages have no reader", async () => {
    const child = start("ignore", "status", "-s", newPath());
    child.stderr?.destroy();
    expect(await once(child, "exit")).toEqual([6, null]);
  });
});
