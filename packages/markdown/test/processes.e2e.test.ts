import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SHARES_FILES } from "../../local/test/support/sharing.js";
import { proceduresIn, proceduresOf } from "./support/procedures.js";
import { lesson, lessonsIn, titles, vault } from "./support/vault.js";

/** Runs the fixture, which imports the built package, to its end. Resolves with its standard error. */
async function reader(...args: string[]): Promise<string> {
  const path = fileURLToPath(new URL("./fixtures/read-lessons.mjs", import.meta.url));
  return text(spawn(process.execPath, [path, ...args], { stdio: ["ignore", "ignore", "pipe"] }).stderr);
}

describe.runIf(SHARES_FILES)("several processes", () => {
  it("L5: count 4 times 25 readings as 100, and lose no lesson that they capture", async () => {
    const root = vault({ "hive/90-lessons.md": "### [2026-01-04] WAL\n\nUse WAL for concurrent readers.\n" });
    const errors = await Promise.all(["a", "b", "c", "d"].map((name) => reader(root, name, "25", "WAL")));
    expect(errors).toEqual(["", "", "", ""]);
    const lessons = lessonsIn(root);
    expect((await lesson(lessons, "WAL")).reinforcements).toBe(100);
    const all = await lessons.list();
    expect([all.length, new Set(all.map(({ id }) => id)).size, new Set(titles(all)).size]).toEqual([13, 13, 13]);
  });
});

describe("several reviews at the same time", () => {
  it("P25: retire a procedure once, and none of them fails", async () => {
    const { root, engine, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n" });
    for (let run = 0; run < 3; run++) await procedures.report("procedure:deploy", { success: false });
    const all = [procedures, proceduresIn(root, { engine }), proceduresIn(root, { engine })];
    const reviews = await Promise.all(all.map((one) => one.review()));
    expect(reviews.flat().filter(({ done }) => done)).toMatchObject([{ action: "retire" }]);
    expect(await procedures.archived()).toHaveLength(1);
  });

  it("P24: begin one trial, while the model of another is at work", async () => {
    const { root, engine, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n" });
    for (let run = 0; run < 2; run++) await procedures.report("procedure:deploy", { success: false });
    const first = async () => "<procedure>\nWait for the lock.\n</procedure>";
    const slow = async () => {
      expect(await procedures.review({ model: first })).toMatchObject([{ action: "revise", done: true }]);
      return "<procedure>\nAsk before the deploy.\n</procedure>";
    };
    const proposals = await proceduresIn(root, { engine }).review({ model: slow });
    expect(proposals).toMatchObject([{ action: "revise", done: false }]);
  });

  it("P24: begin no trial of a procedure that is gone when the model has answered", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": "Deploy.\n" });
    for (let run = 0; run < 2; run++) await procedures.report("procedure:deploy", { success: false });
    const slow = async () => {
      rmSync(join(root, "procedures/deploy.md"));
      expect(await procedures.list()).toEqual([]);
      return "<procedure>\nWait for the lock.\n</procedure>";
    };
    expect(await procedures.review({ model: slow })).toMatchObject([{ action: "revise", done: false }]);
  });
});
