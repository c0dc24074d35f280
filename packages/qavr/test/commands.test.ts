import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { similarity } from "@qavr/core";
import { replay, revoke } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../src/command-list.js";
import { statusText } from "../src/commands/status.js";
import type { DoctorReport } from "../src/reports/doctor.js";
import type { StatusReport } from "../src/reports/status.js";
import { createStyle } from "../src/terminal/terminal.js";
import { appEngine, ledgerFile, newLedger, newPath, oneRun, runApp, unjudgedLedger } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";
import { jsonSchema, PRINTED } from "./support/schema.js";

/** 120 runs, a fifth of them held out. Commands that only read share it. */
let ledger: string;
beforeAll(async () => {
  ledger = await ledgerFile({ runs: 120 }, { holdout: 0.2 });
});

describe("every command", () => {
  it.each(COMMANDS.map((entry): [string] => [entry.name]))("%s has help with two examples", async (name) => {
    const { exitCode, stdout } = await qavr(...name.split(" "), "--help");
    expect(exitCode).toBe(0);
    const [, examples = ""] = stdout.split("Examples:\n");
    expect(examples.trim().split("\n")).toHaveLength(2);
    for (const example of examples.trim().split("\n"))
      expect(example.trim()).toMatch(new RegExp(`^npx qavr ${name}\\b`));
  });

  it("prints JSON that the schema describes", async () => {
    const backup = newPath("backup.db");
    const learned = newPath("learned.json");
    const run = ((await dataOf("runs", "-s", ledger)) as { runs: { episode: string }[] }).runs[0]?.episode as string;
    const commands: Record<(typeof COMMANDS)[number]["name"], string[]> = {
      status: [],
      doctor: [],
      why: [run],
      memories: ["--worst"],
      runs: [],
      eval: ["--learner", "similarity"],
      revoke: ["--source", "checker", "--dry-run"],
      "ledger verify": [],
      "ledger backup": [backup],
      "ledger export": [],
      "ledger restore": [backup, newPath("restored.db")],
      "ledger move": ["--to", newPath("moved.db")],
    };
    const notes = newPath("notes.db");
    Object.assign(commands, {
      demo: ["--runs", "40"],
      "notes add": ["On EACCES, fix the permissions.", "--id", "eacces", "--file", notes],
      "notes search": ["EACCES", "--file", notes],
      "notes prune": ["--dry-run", "--file", notes],
    });
    const without = new Set(["ledger restore", "demo", "notes add", "notes search"]);
    for (const [name, args] of Object.entries(commands)) {
      const place = without.has(name) ? [] : ["-s", ledger];
      const { exitCode, stdout, stderr } = await qavr(...name.split(" "), ...args, ...place, "--json");
      expect(exitCode, `${name}: ${stderr}`).toBe(0);
      const printed = JSON.parse(stdout) as { command: string; data: object };
      expect(PRINTED.safeParse(printed).error?.message, name).toBeUndefined();
      if (name === "ledger export") await writeFile(learned, JSON.stringify(printed.data));
    }
    const other = newPath("other.db");
    const writing = [
      ["why", "d3", "-s", ledger],
      ["ledger", "import", learned, "-s", other],
      ["ledger", "repair", "-s", other],
      ["ledger", "compact", "--yes", "-s", other],
    ];
    for (const args of writing) {
      const { exitCode, stdout, stderr } = await qavr(...args, "--json");
      expect(exitCode, `${args.join(" ")}: ${stderr}`).toBe(0);
      expect(PRINTED.safeParse(JSON.parse(stdout)).error?.message, args.join(" ")).toBeUndefined();
    }
    const tried = [...Object.keys(commands), "ledger import", "ledger repair", "ledger compact"];
    // The dashboard and the MCP server run until they are ended; their own tests start them. Shards need a cluster.
    tried.push("dashboard", "mcp", "ledger shards");
    expect(tried.sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });

  it("is described by docs/reference/cli.schema.json", () => {
    const file = new URL("../../../docs/reference/cli.schema.json", import.meta.url);
    expect(readFileSync(file, "utf8")).toBe(jsonSchema());
  });
});

describe("a command that only reads", () => {
  it("prints no control characters of a name, and refuses one that is too long as wrong usage", async () => {
    const { exitCode, stderr } = await qavr("status", "-n", "a\u001b[31m", "-s", ledger);
    expect(exitCode).toBe(4);
    expect(stderr).toContain("a�[31m");
    expect((await qavr("status", "-n", "a".repeat(600), "-s", ledger)).exitCode).toBe(2);
  });

  it("leaves the ledger's bytes as they are", async () => {
    const before = readFileSync(ledger);
    for (const args of [
      ["status"],
      ["memories"],
      ["runs"],
      ["why", "d3"],
      ["ledger", "verify"],
      ["revoke", "--source", "checker", "--dry-run"],
    ]) {
      expect((await qavr(...args, "-s", ledger)).exitCode, args.join(" ")).toBe(0);
    }
    expect(readFileSync(ledger).equals(before)).toBe(true);
  });

  it("works beside an application that writes, and sees what it has written", async () => {
    const { path, engine } = newLedger();
    await runApp(engine, { runs: 5 });
    expect(await dataOf("status", "-s", path)).toMatchObject({ runs: { recorded: 5, taught: 5 } });
    await runApp(engine, { runs: 5 });
    expect(await dataOf("status", "-s", path)).toMatchObject({ runs: { recorded: 10, taught: 10 } });
    await engine.close();
  });
});

describe("bad input", () => {
  it("suggests the command that was meant, with exit code 2", async () => {
    const { exitCode, stderr } = await qavr("statsu");
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Did you mean status?"),
    });
  });

  it.each([
    ["a number that is none", ["runs", "--limit", "many"], 2, "USAGE"],
    ["a port that is none", ["dashboard", "--port", "99999"], 2, "USAGE"],
    ["an order that is none", ["memories", "--order", "age"], 2, "USAGE"],
    ["a missing ledger", ["status", "-s", newPath()], 6, "STORE_UNAVAILABLE"],
    ["an empty path", ["status", "-s", ""], 2, "USAGE"],
    ["a missing ledger for a command that writes", ["ledger", "repair", "-s", newPath()], 6, "STORE_UNAVAILABLE"],
    ["a URL of another database", ["status", "-s", "mysql://localhost/app"], 2, "INVALID_ARGUMENT"],
    ["a password with a slash", ["status", "-s", "postgres://user:a/b@localhost/app"], 2, "USAGE"],
    ["a server that is not there", ["status", "-s", "postgres://localhost:1/app"], 6, "STORE_UNAVAILABLE"],
    ["neither --dry-run nor --yes", ["revoke", "--source", "x"], 2, "USAGE"],
    ["a compaction without --yes", ["ledger", "compact"], 2, "USAGE"],
  ])("%s is refused", async (_, args, exitCode, code) => {
    const result = await qavr(...args, "--json");
    expect(result.exitCode, result.stderr).toBe(exitCode);
    const printed = JSON.parse(result.stdout) as { error: { code: string } };
    expect(PRINTED.safeParse(printed).success).toBe(true);
    expect(printed.error.code).toBe(code);
    expect(result.stderr).toMatch(/^error: /);
  });

  it.each([
    ["status --nope", "status", "unknown option '--nope'"],
    ["ledger verify --nope", "ledger verify", "unknown option '--nope'"],
    ["ledger restore backup.db", "ledger restore", "missing required argument 'file'"],
    ["ledger nope", "ledger", "unknown command 'nope'\n(Did you mean move?)"],
    ["--nope", "", "unknown option '--nope'"],
    ["help nope", "help", "Name a command: npx qavr --help lists them."],
  ])("%s has its command and its message in the JSON", async (line, command, message) => {
    const { exitCode, stdout } = await qavr(...line.split(" "), "--json");
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ schema: 1, command, error: { code: "USAGE", message } });
  });

  it.each([
    ["a run or memory", ["why", "nothing"]],
    ["a namespace", ["status", "-n", "nobody"]],
    ["a learner", ["eval", "--learner", "best"]],
    ["a collection", ["memories", "--collection", "nope"]],
  ])("%s that there is none of ends with exit code 4", async (_, args) => {
    expect((await qavr(...args, "-s", ledger)).exitCode).toBe(4);
  });
});

describe("qavr status", () => {
  it("says in one sentence whether it is learning, and how sure that is", async () => {
    const { stdout } = await qavr("status", "-s", ledger);
    expect(stdout).toMatch(/^(Learning|Cold): 120 runs have taught.* Lift needs 30 judged runs on each side/);
    expect(stdout).toMatch(/success {3}[▁-█]+ /);
    expect(stdout).toContain("100 % with an outcome");
    expect(stdout).toContain("Note ");
  });

  it("does not call runs judged that merely ended", async () => {
    const path = await unjudgedLedger(30);
    const { stdout } = await qavr("status", "-s", path);
    expect(stdout).toContain("over 30 runs that ended, none judged");
    expect(await dataOf("status", "-s", path)).toMatchObject({ curve: { judged: false } });
  });

  it("tells an empty ledger from one that learns nothing", async () => {
    const { path, engine } = newLedger();
    expect(await dataOf("status", "-s", path)).toMatchObject({ state: { level: "empty" } });
    await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 }, { reward: null });
    expect(await dataOf("status", "-s", path)).toMatchObject({ state: { level: "unjudged" } });
    await engine.close();
  });

  it("says that memories are not known where an application's own learner wrote", async () => {
    const path = await ledgerFile({ runs: 5 }, { learner: { ...similarity(), id: "own@1" } });
    const { stdout } = await qavr("status", "-s", path);
    expect(stdout).toContain("memories  not known: their states cannot be read here");
    const printed = JSON.parse((await qavr("status", "-s", path, "--json")).stdout);
    expect(printed.data).toMatchObject({ learner: "own@1", runs: { recorded: 5 } });
    expect(printed.data).not.toHaveProperty("memories");
    expect(PRINTED.safeParse(printed).error?.message).toBeUndefined();
  });

  it("opens the only namespace of a ledger, and names the others of one with several", async () => {
    const { path, engine } = newLedger();
    await runApp(engine, { runs: 2, namespace: "small" });
    await runApp(engine, { runs: 4, namespace: "large" });
    await engine.close();
    expect(await dataOf("status", "-s", path)).toMatchObject({ namespace: "large", otherNamespaces: ["small"] });
  });

  it("opens the default namespace also behind a thousand others, and says that there may be more", async () => {
    const { path, engine } = newLedger();
    const names = Array.from({ length: 1_005 }, (_, i) => `customer-${10_000 + i}`);
    await Promise.all([...names, "default"].map((namespace) => runApp(engine, { runs: 1, namespace })));
    await engine.close();
    const { stdout } = await qavr("status", "-s", path);
    expect(stdout).toContain("namespace default (1,000 or more: customer-10000, ");
  });

  it("shows no control characters of labels and collections", async () => {
    const { path, engine } = newLedger();
    const { episode } = await engine.rank({
      candidates: [{ id: "a", similarity: 1, label: "\x1b[2Jgone\u202e" }],
      topK: 1,
    });
    await engine.end(episode, { reward: true, tier: "verified" });
    await engine.close();
    const { stdout } = await qavr("status", "-s", path);
    expect(stdout).toContain("�[2Jgone�");
    expect(stdout).not.toContain("\x1b");
    const report = (await dataOf("status", "-s", path)) as StatusReport;
    const state = { ...report.state, sentence: "Learned lists do no better so far in \x1b[2Jdocs." };
    expect(statusText({ ...report, state }, createStyle(process.stdout, false))).toContain("�[2Jdocs");
  });
});

describe("qavr status --json", () => {
  it("names the reporters, and events that may explain a change of the curve", async () => {
    const path = newPath();
    const before = appEngine(sqliteStore(path), { learner: similarity() });
    await runApp(before, { runs: 20 });
    await before.close();
    const after = appEngine(sqliteStore(path), { createId: () => crypto.randomUUID() });
    await replay(after, { write: true });
    await runApp(after, { runs: 20 });
    await revoke(after, { namespace: "default", source: "checker", toSeq: 10 });
    await after.close();
    const { curve, reporters } = (await dataOf("status", "-s", path)) as StatusReport;
    expect(reporters).toMatchObject([{ source: "checker", tier: "verified", outcomes: 35 }]);
    expect(curve.events.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^learner oar@/),
      "revocation of checker",
    ]);
  });
});

describe("qavr demo", () => {
  it("learns which notes help, with a lift whose interval is above 0, and lets the doctor name notes that mislead", async () => {
    const { store, lift, best, curve } = (await dataOf("demo", "--runs", "1000")) as StatusReport;
    const measured = lift?.lift;
    expect(typeof measured === "object" && measured.low).toBeGreaterThan(0);
    expect(best.slice(0, 2).every(({ id }) => Number(id.split("-")[1]) < 2)).toBe(true);
    expect(curve.points.at(-1)?.success).toBeGreaterThan(curve.points[0]?.success as number);
    const { findings } = (await dataOf("doctor", "-s", store)) as DoctorReport;
    expect(findings.map(({ id }) => id)).toEqual(["harmful-memories"]);
    expect(findings[0]?.finding).toMatch(
      /these memories: ((Run the|Delete|Tell|Charge|Reset|Switch|Export|Widen) [^:;]+: \d+ of \d+ runs[^;]+(; |$))+$/,
    );
  });

  it("says that it is made up, and how to look at it", async () => {
    const { stdout } = await qavr("demo", "--runs", "40");
    expect(stdout).toContain("made up");
    expect(stdout).toMatch(/npx qavr dashboard --store .+ledger\.db/);
    const [, run, store] = /npx qavr why (\S+) --store (\S+)/.exec(stdout) as unknown as [string, string, string];
    expect(await dataOf("why", run, "--store", store)).toMatchObject({ kind: "run", run: { episode: run } });
  });
});

describe("qavr why", () => {
  it("explains a run with terms that add up", async () => {
    const { runs } = (await dataOf("runs", "-s", ledger)) as { runs: { episode: string }[] };
    const { run } = (await dataOf("why", runs[0]?.episode as string, "-s", ledger)) as {
      run: { exposures: { items: Record<string, number>[] }[] };
    };
    for (const item of run.exposures[0]?.items ?? []) {
      const { similarity = 0, learned = 0, bonus = 0, overlap = 0, unverified = 0, score } = item;
      expect(similarity + learned + bonus + overlap + unverified).toBeCloseTo(score as number, 5);
    }
  });

  it("names a source once that has the name of its tier", async () => {
    const { path, engine } = newLedger();
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.end(episode, { reward: false, tier: "verified", source: "verified" });
    await engine.close();
    expect((await qavr("why", episode, "-s", path)).stdout).toContain(`Run ${episode}: failure (verified)\n`);
  });

  it("names the context of a retrieval", async () => {
    const { path, engine } = newLedger();
    const { episode } = await engine.rank({ context: "deploy", candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.end(episode);
    await engine.close();
    expect((await qavr("why", episode, "-s", path)).stdout).toContain("the host's order, context deploy, oar@");
  });

  it("says of a memory where it was shown, and why not", async () => {
    const { stdout } = await qavr("why", "d4", "-s", ledger);
    expect(stdout).toContain("Note 4");
    expect(stdout).toMatch(/not shown \((outranked|held-out)\), place \d+, without learning \d+/);
  });

  it("finds a memory by its label", async () => {
    expect(await dataOf("why", "Note 4", "-s", ledger)).toMatchObject({ kind: "memory", memory: { id: "d4" } });
  });

  it("finds a memory by its label as lists cut it, also within a character of two code units", async () => {
    const { path, engine } = newLedger();
    const candidates = [{ id: "a", similarity: 1, label: `${"x".repeat(58)}😀 and more` }];
    await oneRun(engine, { candidates, topK: 1 }, { reward: true, tier: "verified" });
    await engine.close();
    // As a terminal and a shell pass it on: in UTF-8, which has no half characters.
    const listed = Buffer.from((await qavr("memories", "-s", path)).stdout).toString();
    const name = /\bx+.*…/.exec(listed)?.[0] as string;
    expect(await dataOf("why", name, "-s", path)).toMatchObject({ kind: "memory", memory: { id: "a" } });
  });

  it("finds a memory by its label as lists cut it, however long ago it was shown", async () => {
    const { path, engine } = newLedger();
    const label = "On EACCES, fix the permissions of the folder, then start again";
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1, label }], topK: 1 });
    await engine.end(episode, { reward: true, tier: "verified" });
    await runApp(engine, { runs: 600 });
    await engine.close();
    for (const name of [label, `${label.slice(0, 59)}…`]) {
      expect(await dataOf("why", name, "-s", path)).toMatchObject({ memory: { id: "a" }, appearances: [{ episode }] });
    }
  });
});

describe("qavr eval", () => {
  it("takes a learner's name as the benchmarks write it, too", async () => {
    const names = ["kernel-prototypes", "kernelPrototypes"];
    const reports = await Promise.all(names.map((name) => dataOf("eval", "--learner", name, "-s", ledger)));
    expect(reports[0]).toMatchObject({ learner: "kernel-prototypes@1" });
    expect(reports[0]).toEqual(reports[1]);
  });
});

describe("qavr revoke", () => {
  it("takes out what a dry run has announced", async () => {
    const path = await ledgerFile({ runs: 10 });
    const planned = await dataOf("revoke", "--source", "checker", "--dry-run", "-s", path);
    expect(planned).toMatchObject({ outcomes: 10, episodes: 10, dryRun: true });
    expect(await dataOf("revoke", "--source", "checker", "--yes", "-s", path)).toMatchObject({
      outcomes: 10,
      dryRun: false,
    });
    expect(await dataOf("status", "-s", path)).toMatchObject({ runs: { taught: 0 }, curve: { points: [] } });
  });

  it("names the sources of the namespace, where none matches", async () => {
    const path = await ledgerFile({ runs: 2 });
    const engine = appEngine(sqliteStore(path));
    await engine.report("run-1", { helpful: ["m1"], source: "voter" });
    const { episode } = await engine.rank({ namespace: "support", candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.end(episode, { reward: true, source: "thumbs" });
    await engine.close();
    const { stdout } = await qavr("revoke", "--source", "thumbs", "--dry-run", "-s", path);
    expect(stdout).toBe("Namespace default has no outcome of the source thumbs. Its sources: checker, voter.\n");
    expect((await qavr("revoke", "--source", "thumbs", "--dry-run", "-s", path, "-n", "support")).stdout).toMatch(
      /^1 /,
    );
  });
});
