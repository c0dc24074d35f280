import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("../dist/main.mjs", import.meta.url));
const MOST_LINES = 80;

const run = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, [MAIN, ...args]);

/** How many answers were right before and after, and of how many. */
function rightIn(stdout: string): { before: number; after: number; of: number } {
  const [, before, of, after] = /^right +(\d+) of (\d+) +(\d+) of \2$/m.exec(stdout) ?? [];
  return { before: Number(before), after: Number(after), of: Number(of) };
}

describe("the examples", () => {
  it.each(["agent-middleware", "feedback-later", "langgraph-interrupt", "rag-chain", "ranked-skills"])(
    "%s runs offline, in at most eighty lines, and gets everything right that it got wrong before",
    async (name) => {
      const source = readFileSync(new URL(`../src/${name}.ts`, import.meta.url), "utf8");
      expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(MOST_LINES);
      const { stdout, stderr } = await run(name);
      const { before, after, of } = rightIn(stdout);
      expect(before).toBeLessThan(after);
      expect(after).toBe(of);
      expect(stderr).toBe("");
    },
  );

  it("say what they are called", async () => {
    await expect(run("rag")).rejects.toMatchObject({ code: 2, stderr: /Name an example: agent-middleware/ });
  });
});
