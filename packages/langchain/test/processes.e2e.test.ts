import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { account, fixture, killed, runNode } from "./support/child.js";
import { tempFolder } from "./support/temp-folder.js";

describe("a run that is interrupted in one process and goes on in another", () => {
  it.each([
    ["a graph that asks", "dynamic", "answer", 1],
    ["a graph that asks, and then fails", "dynamic", "fail", -1],
    ["a graph with a breakpoint", "static", "answer", 1],
    ["an agent that a person must approve", "agent", "answer", 1],
  ])("settles what the first one showed: %s", async (_what, kind, ending, credit) => {
    const folder = tempFolder();
    const before = await account("interrupted.mjs", kind, "ask", folder);
    expect(before).toMatchObject({ credit: {}, suspended: 1, open: 0, recorded: 1 });
    const after = await account("interrupted.mjs", kind, ending, folder);
    expect(after).toMatchObject({ credit: { restart: credit }, suspended: 0, open: 0, recorded: 1 });
    expect(after?.told).toBe(kind === "agent" ? "[m1] restart the payment queue" : undefined);
    expect(after?.failed).toBe(kind !== "agent" && ending === "fail" ? "boom" : undefined);
  });
});

describe("a process that exits as soon as it has answered", () => {
  it.each([
    ["flush has returned after invoke", "invoke", { credit: { restart: 1 }, completed: 1 }],
    ["flush has returned after a stream was read to its end", "stream", { credit: { restart: 1 }, completed: 1 }],
    ["it ends by itself", "end", { credit: { restart: 1 }, completed: 1 }],
    ["flush has returned, with a judge still at work when the answer was there", "flush", { credit: { restart: 1 } }],
  ])("has left everything in the ledger when %s", async (_when, mode, expected) => {
    const store = join(tempFolder(), "ledger.db");
    await account("serverless.mjs", mode, store);
    expect(await account("serverless.mjs", "read", store)).toMatchObject({ ...expected, recorded: 1, open: 0 });
  });

  it("has lost no more than the run that ended last, and no other damage, when it is killed", async () => {
    const store = join(tempFolder(), "ledger.db");
    const ended = Number(await killed(25, "serverless.mjs", "killed", store));
    const read = await account("serverless.mjs", "read", store);
    expect(read?.isWhole).toBe(true);
    expect(read?.recorded).toBeGreaterThanOrEqual(ended - 1);
    expect(read?.completed).toBe(read?.recorded);
  });

  it("has left what a reader left behind too, when close has returned, for a report from a later process", async () => {
    const store = join(tempFolder(), "ledger.db");
    await account("serverless.mjs", "left", store);
    const read = await account("serverless.mjs", "read", store);
    expect(read).toMatchObject({ credit: {}, completed: 0, recorded: 1, open: 0 });
    expect(await account("serverless.mjs", "report", store)).toMatchObject({ credit: { restart: -1 } });
  });
});

/** Since Node 24 a context that was entered does not leave the asynchronous function that entered it. */
const KEEPS_CONTEXTS_APART = Number(process.versions.node.split(".")[0]) >= 24;

describe("an attached memory", () => {
  const limits: [what: string, flags: string[], at: string, reached: number][] = [
    ["is not reached from an asynchronous function", [], "async", 0],
    ["is not reached from a module that node --import loads", ["--import", fixture("attached.mjs")], "preload", 0],
  ];
  it.each([
    ["is reached by what the entry module starts", [], "top", 1] as (typeof limits)[number],
    ...(KEEPS_CONTEXTS_APART ? limits : []),
  ])("%s", async (_what, flags, at, reached) => {
    const stdout = await runNode([...flags, fixture("attached-application.mjs")], { ATTACH: at });
    expect(JSON.parse(stdout)).toEqual({ top: reached, timer: reached, server: reached });
  });
});
