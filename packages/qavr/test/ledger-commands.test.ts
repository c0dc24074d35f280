import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PassThrough, Writable } from "node:stream";
import { oar, qValue, similarity } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { revoke } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { learnerTable } from "../src/learner-table.js";
import { moveToFile } from "../src/move-ledger.js";
import type { Ledger } from "../src/open-ledger.js";
import { runProgram } from "../src/program.js";
import { appEngine, ledgerFile, newLedger, newPath, oneRun, runApp, START } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

const LEARNERS = Object.entries(await learnerTable());
let ledger: string;
beforeAll(async () => {
  ledger = await ledgerFile({ runs: 20 });
});

/** Moves the ledger to a file, with a clock on which each progress line is due. Returns the exit code. */
function moved(to: string, onProgress: () => void): Promise<number> {
  const stderr = new Writable({
    write(_, __, done) {
      onProgress();
      done();
    },
  });
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
  onTestFinished(() => void vi.restoreAllMocks());
  return runProgram(["ledger", "move", "-s", ledger, "--to", to], { stdout: new PassThrough(), stderr });
}

describe("qavr ledger", () => {
  it("verifies ledgers that were recorded under rules of trust", async () => {
    const path = await ledgerFile({ runs: 10 }, { governance: governance({ trust: "audited" }) });
    expect(await dataOf("ledger", "verify", "-s", path)).toMatchObject({ ok: true });
  });

  it("refuses to say anything of memories that a learner of the application wrote, and to move them", async () => {
    const path = await ledgerFile({ runs: 10 }, { learner: { ...oar(), id: "mine@1" } });
    for (const command of [["memories"], ["memories", "-c", "default"], ["ledger", "export"], ["why", "d0"]]) {
      const { exitCode, stderr } = await qavr(...command, "-s", path);
      expect(stderr).toMatch("was learned by mine@1");
      expect(exitCode).toBe(5);
    }
    const to = newPath();
    expect((await qavr("ledger", "move", "--to", to, "-s", path)).exitCode).toBe(5);
    expect(existsSync(to)).toBe(false);
  });

  it("knows the learner of a ledger that ends with many reports, and of one whose entries were compacted away", async () => {
    const [path, to] = [newPath(), newPath()];
    const engine = appEngine(sqliteStore(path), { learner: qValue() });
    await runApp(engine, { runs: 1 });
    for (let at = 0; at < 60; at++) {
      await engine.report("run-1", { reward: at % 2, tier: "user", source: "thumbs" });
    }
    await engine.close();
    await qavr("ledger", "move", "--to", to, "-s", path);
    await qavr("ledger", "compact", "--older-than", "0", "--yes", "-s", path);
    for (const ledger of [to, path]) {
      expect(await dataOf("status", "-s", ledger)).toMatchObject({ learner: "q-value@1", memories: { known: 3 } });
    }
  });

  it("copies to a file alone", async () => {
    for (const to of ["postgres://user:secret@localhost/app", "s3://bucket/ledger"]) {
      for (const command of [
        ["backup", to, "-s", ledger],
        ["restore", ledger, to],
      ]) {
        const { exitCode, stderr } = await qavr("ledger", ...command);
        expect(exitCode).toBe(2);
        expect(stderr).not.toContain("secret");
      }
    }
  });

  it("answers with the code of a taken target where a file stands at the new path", async () => {
    const [taken, backup] = [newPath(), newPath()];
    await writeFile(taken, "");
    expect((await qavr("ledger", "backup", backup, "-s", ledger)).exitCode).toBe(0);
    for (const command of [
      ["backup", taken, "-s", ledger],
      ["restore", backup, taken],
      ["move", "--to", taken, "-s", ledger],
    ]) {
      const { exitCode, stderr } = await qavr("ledger", ...command);
      expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`${taken} exists already`)]);
    }
  });

  it("carries what was learned to another ledger", async () => {
    const file = newPath("learned.json");
    const { stdout } = await qavr("ledger", "export", "-s", ledger);
    await writeFile(file, stdout);
    const path = newPath();
    expect(await dataOf("ledger", "import", file, "-s", path)).toMatchObject({ memories: 12 });
    const utilities = async (store: string): Promise<unknown> =>
      ((await dataOf("memories", "-s", store)) as { rows: { id: string; utility: number }[] }).rows.map(
        ({ id, utility }) => [id, utility],
      );
    expect(await utilities(path)).toEqual(await utilities(ledger));
    expect(await dataOf("why", "d3", "-s", path)).toMatchObject({ memory: { id: "d3", shown: 0 } });
    for (const store of [path, newPath()]) {
      expect(await dataOf("ledger", "import", file, "-s", store, "-n", "new")).toMatchObject({ namespace: "new" });
    }
    expect((await qavr("ledger", "import", newPath("none.json"), "-s", path)).exitCode).toBe(4);
    await writeFile(file, "{}");
    expect((await qavr("ledger", "import", file, "-s", path)).exitCode).toBe(2);
  });

  it.each(["utf8", "utf16le"] as const)(
    "imports what a shell wrote with a byte order mark, as %s",
    async (encoding) => {
      const file = newPath("learned.json");
      await writeFile(file, `\uFEFF${(await qavr("ledger", "export", "-s", ledger)).stdout}`, encoding);
      expect(await dataOf("ledger", "import", file, "-s", newPath())).toMatchObject({ memories: 12 });
    },
  );

  it.each(LEARNERS)("carries what %s has learned to a new ledger", async (_, learner) => {
    const [from, file, to] = [await ledgerFile({ runs: 5 }, { learner }), newPath("learned.json"), newPath()];
    await writeFile(file, (await qavr("ledger", "export", "-s", from)).stdout);
    expect(await dataOf("ledger", "import", file, "-s", to)).toMatchObject({ learner: learner.id });
    const { stdout } = await qavr("ledger", "export", "-s", to);
    expect(JSON.parse(stdout)).toEqual(JSON.parse((await qavr("ledger", "export", "-s", from)).stdout));
  });

  it("shows no control characters of a collection's name, which a file from elsewhere may have", async () => {
    const [path, learned, other] = [newPath(), newPath("learned.json"), newPath()];
    const engine = appEngine(sqliteStore(path));
    const candidates = [{ id: "a", similarity: 1 }];
    await oneRun(engine, { collection: "\x1b[2Jdocs", candidates, topK: 1 }, { reward: true, tier: "verified" });
    await engine.close();
    const exported = await qavr("ledger", "export", "-s", path);
    await writeFile(learned, exported.stdout);
    const imported = await qavr("ledger", "import", learned, "-s", other);
    expect([exported.stderr, imported.stdout]).toEqual([
      expect.stringMatching(/^1 memory of collection �\[2Jdocs, learner /),
      "What was learned of 1 memory is in collection �[2Jdocs of namespace default now.\n",
    ]);
  });

  it("refuses a damaged file of what was learned, or one of another kind or learner, and leaves nothing behind", async () => {
    const file = newPath("learned.json");
    const learned = JSON.parse((await qavr("ledger", "export", "-s", ledger)).stdout);
    const refuse = async (content: object, error: object, ...args: string[]): Promise<void> => {
      await writeFile(file, JSON.stringify(content));
      const store = newPath();
      const { stdout } = await qavr("ledger", "import", file, "-s", store, ...args, "--json");
      expect(JSON.parse(stdout)).toMatchObject({ error });
      expect(readdirSync(dirname(store))).toEqual([]);
    };
    const [first, ...others] = learned.memories;
    const cut = { ...learned, memories: [{ ...first, state: first.state.slice(0, 8) }, ...others] };
    for (const [content, what] of [
      [cut, `memory ${first.id}`],
      [{ ...learned, shared: learned.shared.slice(0, 8) }, "collection default"],
    ]) {
      const message = `The file is damaged: the state of ${what} cannot be read. Export it again.`;
      await refuse(content, { code: "INVALID_STATE", message });
      expect((await qavr("ledger", "import", file, "-s", newPath())).exitCode).toBe(6);
    }
    await refuse({ ...learned, memories: [{ ...first, id: "" }] }, { code: "INVALID_ID" });
    await refuse(learned, { code: "LIMIT_EXCEEDED" }, "-n", "a".repeat(600));
    await refuse({ ...learned, learner: "own@1" }, { code: "CONFLICT", message: expect.stringContaining("own@1") });
    await refuse({ data: learned }, { code: "USAGE" });
  });

  it("imports nothing into a namespace of another learner", async () => {
    const [file, to] = [newPath("learned.json"), await ledgerFile({ runs: 1 }, { learner: similarity() })];
    await writeFile(file, (await qavr("ledger", "export", "-s", ledger)).stdout);
    expect(await qavr("ledger", "import", file, "-s", to)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining("this ledger has similarity@"),
    });
  });

  it("exports the only collection, and asks which where there are several", async () => {
    const { path, engine } = newLedger();
    const show = async (collection: string): Promise<void> => {
      const { episode } = await engine.rank({ collection, candidates: [{ id: "a", similarity: 1 }], topK: 1 });
      await engine.end(episode, { reward: true, tier: "verified" });
    };
    await show("docs");
    expect(await dataOf("ledger", "export", "-s", path)).toMatchObject({ collection: "docs" });
    await show("notes");
    await engine.close();
    const { exitCode, stderr } = await qavr("ledger", "export", "-s", path);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("It has: docs, notes.") });
    const unknown = await qavr("ledger", "export", "-c", "nope", "-s", path);
    expect(unknown).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("There is no collection nope.") });
  });

  it("prints no control characters of a name, in JSON and in notes either", async () => {
    const path = newPath();
    const name = "n\u001b[31m\u009b2J\u202e\u007f";
    const engine = appEngine(sqliteStore(path));
    const candidates = [{ id: name, label: name, similarity: 1 }];
    const { episode } = await engine.rank({ namespace: name, collection: name, candidates, topK: 1 });
    await engine.end(episode, { reward: true, tier: "verified" }, { namespace: name });
    await engine.close();
    const control = /[^\P{Cc}\n]|\p{Bidi_Control}/u;
    for (const args of [
      ["memories", "--json"],
      ["runs", "--json"],
      ["ledger", "export"],
    ]) {
      const { stdout } = await qavr(...args, "-s", path);
      expect(stdout, args.join(" ")).not.toMatch(control);
      expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(name).slice(1, -1));
    }
    const db = new DatabaseSync(path);
    db.exec("UPDATE namespace SET head = head + 64");
    db.close();
    const { stderr } = await qavr("ledger", "repair", "-s", path);
    expect(stderr).toContain("is damaged");
    expect(stderr).not.toMatch(control);
  });

  it("repairs a ledger whose log was lost, which no other command opens", async () => {
    const [source, path] = [newPath(), newPath()];
    const engine = appEngine(sqliteStore(source));
    await runApp(engine, { runs: 5 });
    for (const suffix of ["", "-mark"]) copyFileSync(source + suffix, path + suffix);
    await engine.close();
    expect(await qavr("ledger", "verify", "-s", path)).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining("qavr ledger repair"),
    });
    const repaired = await qavr("ledger", "repair", "-s", path);
    expect(repaired).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("0 entries are kept.") });
  });

  it.each([
    ["ledger verify", "checking entries"],
    ["ledger repair", "checking entries"],
    ["ledger compact --older-than 1 --yes", "checking entries"],
    ["revoke --source nobody --dry-run", "building states"],
    ["eval --learner similarity", "comparing entries"],
  ])("shows the progress of %s on standard error when it takes long", async (command, label) => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
    vi.useFakeTimers({ toFake: ["Date"], now: START + 2 * 86_400_000 });
    onTestFinished(() => void vi.restoreAllMocks().useRealTimers());
    const { stderr } = await qavr(...command.split(" "), "-s", await ledgerFile({ runs: 20 }));
    expect(stderr).toContain(`${label}: 100 %`);
  });

  it("says how much was moved", async () => {
    const { stdout } = await qavr("ledger", "move", "-s", ledger, "--to", newPath());
    expect(stdout).toMatch(/^40 entries of 1 namespace are in /);
  });

  it("moves a ledger with a revocation, whose outcomes do not count in the copy either", async () => {
    const path = await ledgerFile({ runs: 10 });
    const engine = appEngine(sqliteStore(path));
    await revoke(engine, { namespace: "default", source: "checker" });
    await engine.close();
    expect(await dataOf("ledger", "move", "-s", path, "--to", newPath())).toMatchObject({ namespaces: 1 });
  });

  it("moves nothing to :memory:, which is gone when the command ends", async () => {
    const { exitCode, stdout } = await qavr("ledger", "move", "-s", ledger, "--to", ":memory:", "--json");
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 2, error: { code: "USAGE" } });
  });

  it("moves nothing into a file that is there already", async () => {
    expect((await qavr("ledger", "move", "-s", ledger, "--to", await ledgerFile({ runs: 1 }))).exitCode).toBe(5);
    expect(await qavr("ledger", "move", "-s", ledger, "--to", ledger)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("the same ledger"),
    });
  });

  it("names a file last that it moves to, so that an interrupted move leaves none", async () => {
    const to = newPath();
    const seen: boolean[] = [];
    expect(await moved(to, () => seen.push(existsSync(to)))).toBe(0);
    expect(seen).toEqual(expect.arrayContaining([false]));
    expect(seen).not.toContain(true);
    expect(readdirSync(dirname(to))).toEqual([basename(to)]);
  });

  it("leaves nothing at the target of a move that fails half-way", async () => {
    const { path, engine } = newLedger();
    for (const namespace of ["a", "b"]) await runApp(engine, { runs: 5, namespace });
    await engine.close();
    const db = new DatabaseSync(path);
    db.exec("UPDATE entry SET payload = x'00' WHERE id = (SELECT max(id) FROM entry)");
    db.close();
    const to = newPath();
    expect((await qavr("ledger", "move", "-s", path, "--to", to)).exitCode).not.toBe(0);
    expect(readdirSync(dirname(to))).toEqual([]);
  });

  it("says that the source was written to meanwhile, and leaves nothing at the target", async () => {
    const store = sqliteStore(newPath());
    const engine = appEngine(store);
    await runApp(engine, { runs: 5 });
    const verify = async () => {
      await runApp(engine, { runs: 1, namespace: "late" });
      return store.verify();
    };
    const to = newPath();
    const moving = moveToFile({ store: { ...store, verify }, place: "source" } as unknown as Ledger, to, () => {});
    await expect(moving).rejects.toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("meanwhile") });
    expect(readdirSync(dirname(to))).toEqual([]);
    await engine.close();
  });

  it("leaves no log of the copy where SQLite cannot end it, as on a disk that is full", async () => {
    const to = newPath();
    let reader: DatabaseSync | undefined;
    const code = await moved(to, () => {
      const copy = readdirSync(dirname(to)).find((name) => name.endsWith(".unfinished"));
      if (!copy || reader) return;
      // Its snapshot keeps the log in use.
      reader = new DatabaseSync(join(dirname(to), copy), { readOnly: true });
      reader.exec("BEGIN; SELECT count(*) FROM entry");
    });
    expect(code).toBe(0);
    expect(reader).toBeDefined();
    reader?.close();
    expect(readdirSync(dirname(to))).toEqual([basename(to)]);
  });

  it("does not move a compacted ledger, whose beginning is gone, and leaves nothing at the target", async () => {
    const path = await ledgerFile({ runs: 5 });
    expect(await dataOf("ledger", "compact", "--older-than", "0", "--yes", "-s", path)).toMatchObject({ entries: 0 });
    const to = newPath();
    const { exitCode, stdout } = await qavr("ledger", "move", "-s", path, "--to", to, "--json");
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 2, error: { code: "UNSUPPORTED" } });
    expect(readdirSync(dirname(to))).toEqual([]);
  });
});

it("qavr ledger compact takes an empty age, as of a variable that is not set, for none", async () => {
  const path = await ledgerFile({ runs: 5 });
  const { exitCode, stderr } = await qavr("ledger", "compact", "--older-than", "", "--yes", "-s", path);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("It must be a whole number") });
  expect(await dataOf("ledger", "verify", "-s", path)).toMatchObject({ entries: 10 });
});

describe("qavr revoke", () => {
  it.each(["100", "5", "last week 3"])("takes %s for no time", async (from) => {
    const { exitCode, stderr } = await qavr("revoke", "--from", from, "--dry-run", "-s", ledger);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("It must be a time such as") });
  });

  it("takes a day, and a moment", async () => {
    const of = (from: string): Promise<unknown> => dataOf("revoke", "--from", from, "--dry-run", "-s", ledger);
    expect(await of("2026-01-01")).toMatchObject({ outcomes: 20 });
    expect(await of("2026-01-02T12:00Z")).toMatchObject({ outcomes: 0 });
    // Times are printed in UTC.
    vi.stubEnv("TZ", "America/New_York");
    expect(await of("2026-01-01 00:00")).toMatchObject({ outcomes: 20 });
    vi.unstubAllEnvs();
  });
});
