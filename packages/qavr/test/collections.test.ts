import { memoryStore } from "@qavr/core";
import { copyLearned } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { describe, expect, it } from "vitest";
import { run } from "../src/commands/memories.js";
import { ledgerIn } from "../src/open-ledger.js";
import { MEMORY_ORDERS, memoriesReport } from "../src/reports/memories.js";
import type { StatusReport } from "../src/reports/status.js";
import { memoryReport } from "../src/reports/why.js";
import type { Style } from "../src/terminal/terminal.js";
import { appEngine, ledgerInMemory, newLedger, newPath, oneRun, runApp } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

const same = (text: string): string => text;
const PLAIN: Style = { bold: same, dim: same, good: same, bad: same };

/** A ledger of 1,010 tenants, whose last one has the most runs. */
async function crowdedLedger(): Promise<string> {
  const path = newPath();
  const engine = appEngine(sqliteStore({ path, synchronous: "normal" }));
  const tenants = Array.from({ length: 1_010 }, (_, tenant) => `tenant-${tenant + 1_000}`);
  await Promise.all(tenants.map((namespace) => runApp(engine, { runs: 1, namespace })));
  await runApp(engine, { runs: 2, namespace: "tenant-2009" });
  await engine.close();
  return path;
}

describe("a ledger with several collections", () => {
  it("has their names beside its memories", async () => {
    const { path, engine } = newLedger();
    const candidates = [{ id: "a", similarity: 1 }];
    const show = async (...collections: string[]): Promise<string> => {
      let episode: string | undefined;
      for (const collection of collections) {
        ({ episode } = await engine.rank({ episode, collection, candidates, topK: 1 }));
      }
      await engine.end(episode as string, { reward: true, tier: "verified" });
      return episode as string;
    };
    const run = await show("docs");
    for (const command of ["status", "memories"]) {
      expect((await qavr(command, "-s", path)).stdout, command).not.toContain("docs");
    }
    const both = await show("docs", "notes");
    await engine.close();
    for (const command of ["status", "memories"]) {
      const { stdout } = await qavr(command, "-s", path);
      expect(stdout, command).toMatch(/ collection {2}memory\n.* docs {8}a\n/s);
      expect(stdout, command).toMatch(/ notes {7}a\n/);
    }
    expect((await qavr("memories", "-c", "docs", "-s", path)).stdout).not.toContain("collection");
    const { stdout } = await qavr("why", both, "-s", path);
    expect(stdout.match(/collection \w+: /g)).toEqual(["collection docs: ", "collection notes: "]);
    expect((await qavr("why", run, "-s", path)).stdout).not.toContain("collection");
    for (const [collection, shown] of Object.entries({ docs: 2, notes: 1 })) {
      const report = await dataOf("why", "a", "-c", collection, "-s", path);
      expect(report).toMatchObject({ memory: { collection, shown }, appearances: { length: shown } });
    }
    expect(await dataOf("why", "a", "-s", path)).toMatchObject({ memory: { shown: 2 }, appearances: { length: 2 } });
    expect((await qavr("why", "a", "-c", "none", "-s", path)).exitCode).toBe(4);
  });
});

it("of several collections status names no memory as one of the best that is below one of the worst", async () => {
  const { path, engine } = newLedger();
  for (let run = 0; run < 12; run++) {
    const [collection, reward] = run % 2 === 0 ? ["docs", true] : ["notes", false];
    const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 1 - i / 10 }));
    await oneRun(engine, { collection, candidates, topK: 2 }, { reward, tier: "verified" });
  }
  await engine.close();
  const { best, worst } = (await dataOf("status", "-s", path)) as StatusReport;
  expect(best.map(({ collection }) => collection)).toEqual(["docs", "docs"]);
  expect(worst.map(({ collection }) => collection)).toEqual(["notes", "notes"]);
});

it("counts memories that were copied and not shown yet in every order", async () => {
  const store = memoryStore();
  const engine = appEngine(store);
  await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 }, { reward: true, tier: "verified" });
  await copyLearned(engine, { memories: [{ from: "a", to: "b" }] });
  const ledger = await ledgerIn(store, "memory", undefined, { partial: false });
  for (const order of MEMORY_ORDERS) {
    const { rows, of } = await memoriesReport(ledger, { order, limit: 10, most: 10 });
    expect([rows.length, of], order).toEqual([2, 2]);
  }
});

it("of several collections explains a memory of the one that found it last, also long after another did", async () => {
  const { engine, store } = await ledgerInMemory({ runs: 0 });
  const find = (collection: string): Promise<unknown> =>
    oneRun(engine, { collection, candidates: [{ id: "a", similarity: 1 }], topK: 1 }, { reward: true });
  await find("docs");
  await runApp(engine, { runs: 510 });
  await find("notes");
  const ledger = await ledgerIn(store, "memory", undefined, { partial: true });
  expect(await memoryReport(ledger, "a")).toMatchObject({
    memory: { collection: "notes" },
    appearances: { length: 1 },
  });
});

it("of several collections orders the memories together, over all pages", async () => {
  const store = memoryStore();
  const engine = appEngine(store);
  for (let run = 0; run < 12; run++) {
    const [collection, candidates] = [["docs", "notes"][run % 2], [{ id: `m${run % 6}`, similarity: 1 }]];
    await oneRun(engine, { collection, candidates, topK: 1 }, { reward: (run % 6) / 5, tier: "verified" });
  }
  const ledger = await ledgerIn(store, "memory", undefined, { partial: true });
  for (const [order, ids] of [
    ["best", ["m5", "m4", "m3", "m2", "m1", "m0"]],
    ["worst", ["m0", "m1", "m2", "m3", "m4", "m5"]],
  ] as const) {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await memoriesReport(ledger, { order, limit: 2, most: 100, after });
      found.push(...page.rows.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined && found.length < 9);
    expect(found).toEqual(ids);
  }
});

it("of more memories than are read counts those left out once, and says so", async () => {
  const store = memoryStore();
  const engine = appEngine(store);
  const candidates = Array.from({ length: 10 }, (_, i) => ({ id: `m${i}`, similarity: 1 }));
  await oneRun(engine, { candidates, topK: 10 }, { reward: true, tier: "verified" });
  const ledger = await ledgerIn(store, "memory", undefined, { partial: true });
  const memories: typeof engine.memories = async (options) => ({
    ...(await ledger.engine.memories({ ...options, limit: 4 })),
    unread: 2_080,
  });
  const { data, text } = await run({
    args: [],
    options: { order: "best", limit: 10 },
    open: async () => ({ ...ledger, engine: { ...ledger.engine, memories } }),
    progress: () => () => {},
    note: () => {},
  });
  expect(data).toMatchObject({ rows: { length: 10 }, unread: 2_080 });
  expect(text(PLAIN)).toContain(
    "\n2,080 further memories have nearly the same utility as some of these and are left out.",
  );
});

it("of many namespaces opens the one with the most entries", async () => {
  const store = memoryStore();
  const engine = appEngine(store);
  for (let tenant = 100; tenant < 250; tenant++) {
    await runApp(engine, { runs: tenant === 240 ? 2 : 1, namespace: `tenant-${tenant}` });
  }
  expect((await ledgerIn(store, "memory", undefined, { partial: true })).namespace).toBe("tenant-240");
});

it("of more namespaces than are listed changes none that was not named, since the one with the most entries is not known", async () => {
  const path = await crowdedLedger();
  for (const command of [
    ["revoke", "--source", "checker", "--dry-run"],
    ["revoke", "--source", "checker", "--yes"],
    ["ledger", "compact", "--older-than", "0", "--yes"],
  ]) {
    const { exitCode, stderr } = await qavr(...command, "-s", path);
    expect(stderr).toContain("1,000 namespaces or more. Name one by --namespace");
    expect(exitCode).toBe(2);
    expect(await dataOf(...command, "-s", path, "-n", "tenant-2009")).toMatchObject({ namespace: "tenant-2009" });
  }
});

it("of several namespaces says which one a command changed that named none", async () => {
  const { path, engine } = newLedger();
  for (const [namespace, runs] of Object.entries({ acme: 2, globex: 1 })) await runApp(engine, { runs, namespace });
  await engine.close();
  const printed = async (...command: string[]) => (await qavr(...command, "-s", path)).stdout;
  expect(await printed("revoke", "--source", "checker", "--dry-run")).toMatch(
    /^2 outcomes of 2 runs in namespace acme /,
  );
  expect(await printed("ledger", "compact", "--older-than", "0", "--yes")).toMatch(/^4 entries of namespace acme /);
});
