import { existsSync } from "node:fs";
import { PassThrough } from "node:stream";
import { startProgress } from "@qavr/lab";
import { describe, expect, it } from "vitest";
import { runCommand } from "../src/command.js";

const NOWHERE = "/does/not/exist";

const command = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await runCommand(args, { stdout, stderr: stderr as unknown as NodeJS.WriteStream }, NOWHERE);
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
};

describe("the command", () => {
  it("explains itself and ends with 0", async () => {
    const { code, stdout, stderr } = await command("--help");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pnpm demo /);
    for (const option of ["--seeds", "--runs", "--plot", "--json", "--no-color", "--help"])
      expect(stdout).toContain(option);
    expect(stderr).toBe("");
  });

  it("refuses an unknown option with one line on stderr and ends with 2, having done nothing", async () => {
    const { code, stdout, stderr } = await command("--sedes", "8");
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^error: Unknown option '--sedes'\. See pnpm demo --help\.\n$/);
    expect(existsSync(NOWHERE)).toBe(false);
  });
});

describe("progress", () => {
  const drawn = (tty: boolean, shares: readonly number[]): string => {
    const stream = Object.assign(new PassThrough(), { isTTY: tty }) as unknown as NodeJS.WriteStream & PassThrough;
    const progress = startProgress("running", stream);
    for (const share of shares) progress.update(share);
    progress.clear();
    return String(stream.read() ?? "");
  };

  it("is a plain line per tenth where there is no terminal", () => {
    expect(drawn(false, [0.05, 0.1, 0.15, 0.2, 1])).toBe("running:  10 %\nrunning:  20 %\nrunning: 100 %\n");
  });

  it("draws nothing on a terminal for work that ends at once", () => {
    expect(drawn(true, [0.1, 0.5, 1])).toBe("");
  });
});
