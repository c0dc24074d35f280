import { copyFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FakeEmbeddings } from "@langchain/core/utils/testing";
import { type LogFields, oar } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import { describe, expect, it } from "vitest";
import { createApi } from "../src/dashboard/api.js";
import { openStore } from "../src/open-ledger.js";
import type { DoctorReport } from "../src/reports/doctor.js";
import { type App, judge, runLangChainApp } from "./support/langchain-app.js";
import { appEngine, ledgerFile, newLedger, newPath, oneRun, runApp, START, unjudgedLedger } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

const examined = async (path: string, ...flags: string[]): Promise<DoctorReport> =>
  (await dataOf("doctor", "-s", path, ...flags)) as DoctorReport;
const idsOf = ({ findings }: DoctorReport): string[] => findings.map(({ id }) => id);

const sometimes = (): ((run: object) => boolean) => {
  let runs = 0;
  return () => runs++ % 2 === 0;
};
const sameQuestion = (): string => "how do I fix it?";

/** One thing that is wrong with an application that uses the adapter, and the checks that find it. */
const DEFECTS: readonly [string, App, readonly string[]][] = [
  ["retrieves outside tracked runs", { runsAre: "untracked" }, ["outcomes-missing"]],
  ["lets runs hang", { runsAre: "unended" }, ["outcomes-missing", "abandoned-runs"]],
  ["fills its store with new ids at each run", { idOf: (note, run) => `${run}-${note}` }, ["ids-change"]],
  ["judges no run", { options: {} }, ["nothing-judged"]],
  ["has a judge that never says no", { options: { evaluate: () => true } }, ["rewards-equal"]],
  ["searches with fake embeddings", { embeddings: new FakeEmbeddings() }, ["similarities-tied"]],
  ["shows all that its store holds", { notes: 4, k: 4 }, ["nothing-to-choose-from"]],
  ["lets the wrapped store choose, by mmr", { mmr: true }, ["order-kept"]],
  [
    "never shows most of what it finds",
    { options: { evaluate: sometimes(), holdout: 1 }, question: sameQuestion },
    ["never-shown"],
  ],
  [
    "names each run as its context",
    { options: { evaluate: judge, context: ({ runId }) => runId } },
    ["contexts-split"],
  ],
  [
    "names each run as its namespace",
    { options: { evaluate: judge, namespace: ({ runId }) => runId } },
    ["namespaces-split"],
  ],
  [
    "has sources that disagree",
    { after: (memory, runId, run) => memory.report(runId, { reward: run % 2 === 0, source: "thumbs" }) },
    ["sources-disagree"],
  ],
];

/** The checks that adapters run by themselves after 50 runs. */
const SAID_BY_ADAPTERS = [
  "OUTCOMES_MISSING",
  "IDS_CHANGE",
  "NOTHING_JUDGED",
  "REWARDS_EQUAL",
  "SIMILARITIES_TIED",
  "NOTHING_TO_CHOOSE_FROM",
];
const codeOf = (id: string): string => id.toUpperCase().replaceAll("-", "_");

describe("qavr doctor", () => {
  it("is silent about an application that is wired well", async () => {
    const codes: string[] = [];
    const path = await runLangChainApp({
      options: { evaluate: judge, logger: { warn: (_, { code }) => codes.push(code) } },
    });
    expect(codes).toEqual([]);
    const { exitCode, stdout } = await qavr("doctor", "-s", path);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("Nothing found in 120 entries"),
    });
  });

  it("is silent about few runs, and about an empty ledger", async () => {
    expect(idsOf(await examined(await runLangChainApp({ runs: 10, options: {} })))).toEqual([]);
    expect(idsOf(await examined(await ledgerFile({ runs: 0 })))).toEqual([]);
  });

  it("says of an empty ledger what keeps an application that ran from recording", async () => {
    const { exitCode, stdout } = await qavr("doctor", "-s", await ledgerFile({ runs: 0 }));
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^No run is recorded in namespace default\. .* await memory\.flush\(\) before/),
    });
  });

  it.each(DEFECTS)("finds that an application %s", async (_, app, ids) => {
    const codes: string[] = [];
    const warn = (_message: string, { code }: LogFields): void => void codes.push(code);
    const options = { ...(app.options ?? { evaluate: judge }), logger: { warn } };
    expect(idsOf(await examined(await runLangChainApp({ ...app, options })))).toEqual(expect.arrayContaining([...ids]));
    // Runs that hang are abandoned when the memory is closed: the adapter cannot see them earlier.
    const logged = app.runsAre === "unended" ? [] : ids.map(codeOf).filter((code) => SAID_BY_ADAPTERS.includes(code));
    expect(codes.filter((code) => logged.includes(code))).toEqual(logged);
  });

  it("says from 20 runs on that none is judged, and below 50 that most checks need more", async () => {
    expect(idsOf(await examined(await unjudgedLedger(20)))).toEqual(["nothing-judged"]);
    const { exitCode, stdout } = await qavr("doctor", "-s", await unjudgedLedger(9));
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: "9 runs so far in namespace default: most checks need 50. The ledger is whole.\n",
    });
    expect((await qavr("doctor", "-s", await ledgerFile({ runs: 30 }))).stdout).toContain("30 runs so far");
  });

  it("does not say of a compacted ledger that nothing was found in no entries", async () => {
    const path = await ledgerFile({ runs: 60 });
    await qavr("ledger", "compact", "--older-than", "0", "--yes", "-s", path);
    expect((await qavr("doctor", "-s", path)).stdout).toBe(
      "Of 60 runs in namespace default the ledger keeps 0 entries: most checks need 50 runs. The ledger is whole.\n",
    );
  });

  it("advises to scale scores that are never high up, and not down", async () => {
    const evaluate = ({ output }: { output: unknown }) => 0.2 + Number(String(output).split(",")[0]) / 100;
    const { findings } = await examined(await runLangChainApp({ options: { evaluate } }));
    const found = findings.find(({ id }) => id === "one-sided-scores");
    expect(found?.finding).toContain("every run counts as a failure");
    expect(found?.fix).toBe("Scale scores so that a run worth repeating gets 0.5 or more, and any other less.");
  });

  it("ends with exit code 3 and names a fix for each finding", async () => {
    const path = await runLangChainApp({ options: {} });
    const { exitCode, stdout } = await qavr("doctor", "-s", path);
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/^nothing-judged {2}The latest 60 outcomes.*\n {2}fix: Judge runs/);
  });

  it("finds damage of a file, and a file that is no ledger", async () => {
    const path = await ledgerFile({ runs: 60 });
    const db = new DatabaseSync(path);
    db.exec("update entry set payload = zeroblob(length(payload)) where seq = 2");
    db.close();
    expect(await examined(path)).toMatchObject({
      findings: [{ id: "store-corrupt", fix: expect.stringContaining("npx qavr ledger export") }],
    });
    const [learned, fresh] = [newPath("learned.json"), newPath()];
    writeFileSync(learned, (await qavr("ledger", "export", "-s", path)).stdout);
    expect(await qavr("ledger", "import", learned, "-s", fresh)).toMatchObject({ exitCode: 0 });
    expect(idsOf(await examined(fresh))).toEqual([]);
    const garbage = newPath();
    writeFileSync(garbage, "no ledger".repeat(1_000));
    expect(idsOf(await examined(garbage))).toEqual(["store-corrupt"]);
    const { exitCode, stdout } = await qavr("doctor", "-s", garbage);
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: expect.stringMatching(/fix: Move the file away/) });
  });

  it.each([
    ["the log of a killed process is gone", /lacks commits that were durable, at least the last 40 entries/],
    ["a head names another entry", /names entry 41, and the last one is 40/],
  ])("says what is missing and which command repairs it where %s", async (what, missing) => {
    const path = what.startsWith("the log") ? newPath() : await ledgerFile({ runs: 20 });
    if (what.startsWith("the log")) {
      const source = newPath();
      const engine = appEngine(sqliteStore(source));
      await runApp(engine, { runs: 20 });
      for (const suffix of ["", "-mark"]) copyFileSync(source + suffix, path + suffix);
      await engine.close();
    } else {
      const db = new DatabaseSync(path);
      db.exec("UPDATE namespace SET head = head + 1");
      db.close();
    }
    const { exitCode, stdout } = await qavr("doctor", "-s", path);
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: expect.stringMatching(missing) });
    expect(stdout).toContain("fix: npx qavr ledger repair");
    expect(await qavr("ledger", "repair", "-s", path)).toMatchObject({ exitCode: 0 });
    expect(idsOf(await examined(path))).not.toContain("store-corrupt");
  });

  it.each(["stats", "memory:default"])("builds a damaged state again with --fix, and says so: %s", async (scope) => {
    const path = await ledgerFile({ runs: 20 });
    const db = new DatabaseSync(path);
    db.exec(`update state set value = cast(x'7f' || substr(value, 2) as blob)
      where scope = (select id from scope where name = cast('${scope}' as blob))`);
    db.close();
    const { exitCode, stdout } = await qavr("doctor", "-s", path);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 6,
      stdout: expect.stringMatching(/^store-corrupt {2}The stored state .+\n {2}fix: npx qavr doctor --fix/),
    });
    expect(await examined(path, "--fix")).toMatchObject({ findings: [], fixed: ["store-corrupt"], runs: 20 });
    expect(idsOf(await examined(path))).toEqual([]);
  });

  it("advises to take back a change of the tables, which a backup would not do without a loss", async () => {
    const path = await ledgerFile({ runs: 20 });
    const db = new DatabaseSync(path);
    db.exec("create trigger mine after insert on entry begin select 1; end");
    const { stdout } = await qavr("doctor", "-s", path);
    expect(stdout).toMatch(/trigger mine is not as it was created.+\n {2}fix: Undo the change/);
    db.exec("drop trigger mine");
    db.close();
    expect(idsOf(await examined(path))).toEqual([]);
  });

  it("looks at the loop where a learner of the application wrote the states, which cannot be read", async () => {
    const learner = { ...oar(), id: "mine@1" };
    const path = await ledgerFile({ runs: 60 }, { learner });
    expect(await examined(path)).toMatchObject({ findings: [], runs: 60, entries: 120 });
    const { stdout } = await qavr("ledger", "verify", "-s", path);
    expect(stdout).toMatch(
      /^Not all of the ledger can be checked here: 120 entries of 1 namespace read, 0 damaged parts/,
    );
    const engine = appEngine(sqliteStore(path), { learner, createId: () => crypto.randomUUID() });
    for (let run = 0; run < 600; run++) await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.close();
    expect(idsOf(await examined(path))).toContain("outcomes-missing");
  });

  it("is silent about many namespaces where one of them has runs to learn from", async () => {
    const { path, engine } = newLedger();
    const names = ["default", ...Array.from({ length: 60 }, (_, i) => `tenant-${i}`)];
    await Promise.all(names.map((namespace, i) => runApp(engine, { runs: i === 30 ? 20 : 1, namespace })));
    await engine.close();
    expect(idsOf(await examined(path))).toEqual([]);
    const { store, place } = await openStore(path, "read");
    const page = await createApi(store, place).answer("doctor", new URLSearchParams());
    expect(idsOf(page as DoctorReport)).toEqual([]);
    await store.close();
  });

  it("is silent about defects that were mended, once their runs are no longer among the latest", async () => {
    const path = newPath();
    let now = START;
    const engine = appEngine(sqliteStore(path), { clock: () => (now += 1_000), episodeTtl: 60_000 });
    for (let run = 0; run < 1_600; run++) {
      const isWrong = run < 500;
      const context = isWrong ? `run-${run}` : "deploy";
      const candidates = ["a", "b", "c"].map((id, i) => ({ id, similarity: 0.9 - i / 10 }));
      const { episode } = await engine.rank({ context, candidates, topK: 2 });
      if (!isWrong || run % 2 === 0) await engine.end(episode, { reward: run % 3 > 0, tier: "verified" });
      if (run === 499) {
        now += 60_000;
        await engine.end((await engine.rank({ candidates, topK: 2 })).episode);
        expect(idsOf(await examined(path))).toEqual(expect.arrayContaining(["contexts-split", "abandoned-runs"]));
      }
    }
    await engine.close();
    expect(idsOf(await examined(path)).filter((id) => /split|abandoned/.test(id))).toEqual([]);
    expect(await dataOf("status", "-s", path)).toMatchObject({ state: { level: "learning" } });
  });

  it("finds that outcomes are missing once those that came were revoked", async () => {
    const path = await ledgerFile({ runs: 60 });
    expect(idsOf(await examined(path))).not.toContain("outcomes-missing");
    await qavr("revoke", "--source", "checker", "--yes", "-s", path);
    expect(idsOf(await examined(path))).toContain("outcomes-missing");
  });

  it("is silent about sources that disagree once one of them is revoked", async () => {
    const path = await ledgerFile({ runs: 60 });
    const engine = appEngine(sqliteStore(path), { createId: () => crypto.randomUUID() });
    for (const { episode } of (await engine.history({ limit: 200 })).events.filter(
      (event) => event.type === "exposure",
    )) {
      await engine.report(episode, { reward: false, tier: "user", source: "thumbs" });
    }
    await engine.close();
    // Runs and why show only the outcome that counts. Health shows the reporters of the status.
    const { findings } = await examined(path);
    const fix = findings.find(({ id }) => id === "sources-disagree")?.fix;
    expect(fix).toContain("Health in npx qavr dashboard shows how often each source reports a success.");
    const reporters = [{ source: "checker" }, { source: "thumbs", success: 0 }];
    expect(await dataOf("status", "-s", path)).toMatchObject({ reporters });
    await qavr("revoke", "--source", "thumbs", "--yes", "-s", path);
    expect(idsOf(await examined(path))).not.toContain("sources-disagree");
  });

  it("knows the memories of the latest runs among thousands: those that were shown before, and their votes", async () => {
    const { path, engine } = newLedger();
    const run = async (numbers: readonly number[], topK: number, harmful: string[] = []) => {
      const candidates = numbers.map((number, i) => ({ id: `note ${1_000 + number}`, similarity: 0.9 - i / 100 }));
      const { episode, items } = await engine.rank({ candidates, topK });
      const reward = items[0]?.id.endsWith("0") === true;
      await engine.end(episode, { reward, tier: "verified", harmful });
    };
    const from = (first: number, many: number) => Array.from({ length: many }, (_, i) => first + i);
    for (let first = 0; first < 2_000; first += 40) await run(from(first, 40), 40);
    for (let again = 0; again < 520; again++) await run(from(1_900, 40), 1);
    for (let again = 0; again < 5; again++) await run([1_999], 1, ["note 2999"]);
    await engine.close();
    const { findings } = await examined(path);
    expect(findings.map(({ id }) => id)).not.toContain("never-shown");
    expect(findings.find(({ id }) => id === "harmful-memories")?.finding).toContain("note 2999: 5 of 5 votes");
  });

  it("names the option behind memories that are never shown where memory is off", async () => {
    const { findings } = await examined(await ledgerFile({ runs: 60 }, { memoryOff: 1 }));
    expect(findings.find(({ id }) => id === "never-shown")?.fix).toMatch(/^Lower holdout or memoryOff/);
  });

  it("says what to do where there is no ledger yet, with exit code 6", async () => {
    const { exitCode, stdout } = await qavr("doctor", "-s", newPath());
    expect(exitCode).toBe(6);
    expect(stdout).toMatch(/^store-unavailable {2}There is no ledger .+ yet\. Run your application once/);
    expect(stdout).not.toContain("errors.md");
  });

  it("does not call a ledger missing that it cannot look for", async () => {
    // A name that is too long, since root may enter every folder.
    const { exitCode, stdout } = await qavr("doctor", "-s", newPath("x".repeat(300)));
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: expect.stringMatching(/^store-unwritable/) });
  });

  it("mends states that differ from their ledger, with --fix alone", async () => {
    const path = await ledgerFile({ runs: 20 });
    const db = new DatabaseSync(path);
    db.exec("delete from state where id = cast('d3' as blob)");
    db.close();
    expect(idsOf(await examined(path))).toEqual(["ledger-damage"]);
    expect(await examined(path, "--fix")).toMatchObject({ findings: [], fixed: ["ledger-damage"] });
    expect(idsOf(await examined(path))).toEqual([]);
  });
});
