import { memoryStore } from "@qavr/core";
import { compact, exportState, forget, importState } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { beforeAll, describe, expect, it } from "vitest";
import { ledgerIn } from "../src/open-ledger.js";
import { runsReport } from "../src/reports/runs.js";
import { memoryReport } from "../src/reports/why.js";
import { appEngine, ledgerFile, ledgerInMemory, newLedger, newPath, oneRun, runApp, START } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";
import { PRINTED } from "./support/schema.js";

let ledger: string;
beforeAll(async () => {
  ledger = await ledgerFile({ runs: 120 });
});

describe("qavr why", () => {
  it("begins the history of a memory anew where it was forgotten", async () => {
    const { engine, store } = await ledgerInMemory({ runs: 60 });
    await forget(engine, { namespace: "default", collection: "default", ids: ["d0"] });
    await runApp(engine, { runs: 30 });
    const report = await memoryReport(await ledgerIn(store, "memory", undefined, { partial: true }), "d0");
    const { successes, failures } = report?.memory ?? { successes: 0, failures: 0 };
    expect(report?.history.at(-1)).toMatchObject({ runs: successes + failures });
  });

  it("begins the history of a memory anew where an edit has reset it", async () => {
    const store = memoryStore();
    const engine = appEngine(store, { onEdit: "reset" });
    const show = (text: string, reward: boolean) =>
      oneRun(engine, { candidates: [{ id: "a", similarity: 1, text }], topK: 1 }, { reward, tier: "verified" });
    for (let run = 0; run < 10; run++) await show("Restart the router.", true);
    for (let run = 0; run < 5; run++) await show("Buy a new router.", false);
    const report = await memoryReport(await ledgerIn(store, "", undefined, { partial: false }), "a");
    expect(report).toMatchObject({ memory: { successes: 0, failures: 5 }, history: { length: 5 } });
    expect(report?.history.at(-1)).toMatchObject({ runs: 5, success: { share: 0 } });
  });

  it("takes a name for an id before it takes it for a label of another memory", async () => {
    const store = memoryStore();
    const engine = appEngine(store);
    const candidates = [
      { id: "x9", label: "deploy", similarity: 0.9 },
      { id: "deploy", label: "How to roll out", similarity: 0.7 },
    ];
    for (const topK of [2, 1]) {
      await oneRun(engine, { candidates: candidates.slice(0, topK), topK }, { reward: true, tier: "verified" });
    }
    const ledger = await ledgerIn(store, "", undefined, { partial: false });
    expect(await memoryReport(ledger, "deploy")).toMatchObject({
      memory: { id: "deploy" },
      appearances: [{ places: 2 }],
    });
  });

  it("takes a name for the id of an imported memory before it takes it for a label", async () => {
    const store = memoryStore();
    const engine = appEngine(store);
    await oneRun(engine, { candidates: [{ id: "d0", similarity: 0.9 }], topK: 1 }, { reward: true });
    const learned = await exportState(engine, { namespace: "default", collection: "default" });
    const memories = learned.memories.map((memory) => ({ ...memory, id: "deploy" }));
    await importState(engine, { namespace: "default", collection: "other", memories });
    await oneRun(engine, { candidates: [{ id: "x9", label: "deploy", similarity: 0.9 }], topK: 1 }, { reward: true });
    const ledger = await ledgerIn(store, "", undefined, { partial: false });
    expect(await memoryReport(ledger, "deploy")).toMatchObject({ memory: { id: "deploy" }, appearances: [] });
  });

  it("says how far it looks for a memory that was never shown", async () => {
    const { path, engine } = newLedger();
    const memories = [
      { id: "a", similarity: 1 },
      { id: "b", similarity: 0 },
    ];
    await oneRun(engine, { candidates: memories, topK: 1 });
    const why = async () => (await qavr("why", "b", "-s", path)).stdout;
    expect(await why()).toContain("not shown (outranked)");
    for (let run = 0; run < 1_000; run++) await oneRun(engine, { candidates: memories.slice(0, 1), topK: 1 });
    await engine.close();
    const { exitCode, stderr } = await qavr("why", "b", "-s", path);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: expect.stringMatching(/is called b\..* never shown are looked for in the latest 1,000 entries\.\n$/),
    });
  });

  it("says of a run that was shown no memory so, and not that the host's order was shown", async () => {
    const path = await ledgerFile({ runs: 1 }, { memoryOff: 1 });
    const { stdout } = await qavr("why", "run-1", "-s", path);
    expect(stdout).toContain("memory off: nothing was shown, oar@2");
    expect(stdout).not.toContain("the host's order");
    const json = (await qavr("why", "run-1", "-s", path, "--json")).stdout;
    expect(json).toContain('"memoryOff": true');
    expect(PRINTED.safeParse(JSON.parse(json)).error?.message).toBeUndefined();
  });
});

describe("qavr runs", () => {
  it("says that a run was held out", async () => {
    const path = await ledgerFile({ runs: 1 }, { holdout: 1 });
    expect((await qavr("runs", "-s", path)).stdout).toContain("held out");
  });

  it("counts a memory once that two retrievals of a run have shown", async () => {
    const { store, engine } = await ledgerInMemory({ runs: 0 });
    const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 1 - i / 10 }));
    const { episode } = await engine.rank({ candidates, topK: 2 });
    await engine.rank({ episode, candidates, topK: 1 });
    await engine.rank({ episode, collection: "notes", candidates, topK: 1 });
    await engine.end(episode, { reward: true });
    const { runs } = await runsReport(await ledgerIn(store, "memory", undefined, { partial: true }), 1);
    expect(runs).toMatchObject([{ shown: 3 }]);
  });

  it("names the first memory shown also where the first retrieval found nothing", async () => {
    const { store, engine } = await ledgerInMemory({ runs: 0 });
    const { episode } = await engine.rank({ collection: "notes", candidates: [], topK: 1 });
    await engine.rank({ episode, candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.end(episode, { reward: true });
    const { runs } = await runsReport(await ledgerIn(store, "memory", undefined, { partial: true }), 1);
    expect(runs).toMatchObject([{ shown: 1, first: { id: "a", collection: "default" } }]);
  });

  it("lists each run once, over all pages", async () => {
    const found: string[] = [];
    let before: string[] = [];
    for (let page = 0; page < 20; page++) {
      const data = (await dataOf("runs", "-l", "25", ...before, "-s", ledger)) as {
        runs: { episode: string }[];
        next?: number;
      };
      found.push(...data.runs.map(({ episode }) => episode));
      if (data.next === undefined) break;
      before = ["--before", String(data.next)];
    }
    expect(new Set(found).size).toBe(found.length);
    expect(found).toHaveLength(120);
  });

  it("lists a run once whose outcome came much later, at its retrieval", async () => {
    const { engine, store } = await ledgerInMemory({ runs: 310 });
    await engine.report("run-1", { reward: false, tier: "user", source: "thumbs" });
    await runApp(engine, { runs: 290 });
    const ledgerOf = await ledgerIn(store, "memory", undefined, { partial: true });
    const newest = await runsReport(ledgerOf, 595);
    const oldest = await runsReport(ledgerOf, 50, newest.next);
    const found = [...newest.runs, ...oldest.runs].map(({ episode }) => episode);
    expect(new Set(found).size).toBe(found.length);
    expect(found).toHaveLength(600);
    expect(found.at(-1)).toBe("run-1");
  });

  it("lists a run that retrieved nothing once, at the time of its end", async () => {
    const store = memoryStore();
    const engine = appEngine(store);
    const episode = engine.open();
    await engine.report(episode, { reward: true });
    await engine.end(episode);
    await runApp(engine, { runs: 1 });
    const ledgerOf = await ledgerIn(store, "memory", undefined, { partial: true });
    const newest = await runsReport(ledgerOf, 2);
    expect(newest.runs.map((run) => [run.episode, run.at > START])).toEqual([
      ["run-5", true],
      [episode, true],
    ]);
    expect(newest).not.toHaveProperty("next");
    expect((await runsReport(ledgerOf, 2, 3)).runs).toEqual([]);
    await engine.end((await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 })).episode);
    expect((await runsReport(ledgerOf, 1)).runs).toMatchObject([{ shown: 1 }]);
  });

  it("lists as many as were asked for", async () => {
    const { store } = await ledgerInMemory({ runs: 600 });
    // As many as two pages of the ledger have.
    const report = await runsReport(await ledgerIn(store, "memory", undefined, { partial: true }), 500);
    expect(new Set(report.runs.map(({ episode }) => episode)).size).toBe(500);
    expect(report.next).toBe(201);
  });

  it("denies of a compacted ledger no run that it has dropped", async () => {
    const path = await ledgerFile({ runs: 20 });
    await qavr("ledger", "compact", "--older-than", "0", "--yes", "-s", path);
    expect((await qavr("status", "-s", path)).stdout).toContain("20 recorded");
    expect((await qavr("runs", "-s", path)).stdout).toBe("The ledger has no run of namespace default.\n");
  });

  it("does not say of a run that it was shown nothing where its retrievals were compacted away", async () => {
    const { path, engine } = newLedger();
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.suspend(episode, { alias: "thread" });
    await compact(engine, { namespace: "default", olderThan: 0 });
    await engine.resume("thread");
    await engine.end(episode, { reward: true });
    await engine.close();
    const [, row] = (await qavr("runs", "-s", path)).stdout.split("\n");
    expect(row).toMatch(/ compacted +0 or more +run-1$/);
    expect(await dataOf("runs", "-s", path)).toMatchObject({ runs: [{ shown: 0, compacted: true }] });
  });

  it("says that there is no run only of the whole ledger", async () => {
    const { stdout } = await qavr("runs", "--before", "1", "-s", ledger);
    expect(stdout).toBe("No run lies before place 1 of the ledger.\n");
  });

  it("ends its lines with labels, whose width in a terminal is not known", async () => {
    const { path, engine } = newLedger();
    for (const label of ["日本語のメモ：権限を直す", "שלום עולם", "plain"]) {
      await oneRun(engine, { candidates: [{ id: label, label, similarity: 1 }], topK: 1 }, { reward: true });
    }
    await engine.close();
    const [head = "", ...rows] = (await qavr("runs", "-s", path)).stdout.trimEnd().split("\n");
    expect(head).toMatch(/ run +first memory$/);
    expect(rows[2]).toMatch(/ run-1 +日本語のメモ：権限を直す$/);
  });

  it("ends with the command for older ones, which a shell can run", async () => {
    const path = newPath("my ledger.db");
    const engine = appEngine(sqliteStore(path));
    await runApp(engine, { runs: 4, namespace: "docs" });
    await engine.close();
    const { stdout } = await qavr("runs", "-l", "3", "-s", path, "-n", "docs");
    expect(stdout).toMatch(
      new RegExp(`\nolder: npx qavr runs --before \\d+ --limit 3 --store '${path}' --namespace docs\n$`),
    );
  });
});
