import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createEngine, memoryStore } from "@qavr/core";
import { describe, expect, it, vi } from "vitest";
import { markdown, proceduresOf } from "./support/procedures.js";
import { write } from "./support/vault.js";

const DEPLOY = markdown({ description: "How to deploy the shop" }, "# Deploy\n\nRun the migrations first.\n");
const PDF = markdown({ name: "pdf", description: "Fill forms in PDF files" }, "Use pdftk.\n");

describe("procedures", () => {
  it("P8: are procedures and skills of any folder, each with an id of its own", async () => {
    const { procedures } = proceduresOf({
      "procedures/deploy.md": DEPLOY,
      "procedures/team/deploy.md": "Deploy for the team.\n",
      "skills/deploy/SKILL.md": PDF,
      "skills/deploy.md": "A loose file.\n",
      "common_skills/pdf/SKILL.md": PDF,
      "skills/deploy/reference.md": "No skill.\n",
      "notes/deploy.md": "No procedure.\n",
    });
    expect((await procedures.list()).map(({ id, kind }) => `${kind} ${id}`)).toEqual([
      "skill common-skill:pdf",
      "procedure procedure:deploy",
      "procedure procedure:team/deploy",
      "skill skill:deploy.md",
      "skill skill:deploy",
    ]);
  });

  it("P14: are found by their new text right after a write, and no more by the old one", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const found = async (text: string) => (await procedures.search({ text })).procedures.map(({ id }) => id);
    expect(await found("migrations")).toEqual(["procedure:deploy"]);
    write(root, "procedures/deploy.md", DEPLOY.replace("migrations", "backups"));
    expect(await found("backups")).toEqual(["procedure:deploy"]);
    expect(await found("migrations")).toEqual([]);
    write(root, "procedures/notes.txt", "migrations");
    expect(await found("migrations")).toEqual([]);
  });

  it("P16: are not searched by their front matter, and keep their version when it changes", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const before = await procedures.get("procedure:deploy");
    write(root, "procedures/deploy.md", DEPLOY.replace("---\n#", "metadata:\n  owner: platypus\n---\n#"));
    expect((await procedures.get("procedure:deploy"))?.memory).toBe(before?.memory);
    expect((await procedures.search({ text: "platypus owner" })).procedures).toEqual([]);
  });

  it("P10: are recorded as shown by a search and as used when they are loaded, for each run", async () => {
    const { engine, procedures } = proceduresOf({
      "procedures/deploy.md": DEPLOY,
      "procedures/shop.md": "Open the shop.\n",
    });
    const { procedures: found, episode } = await procedures.search({ text: "deploy the shop" });
    expect(found.map(({ id }) => id)).toEqual(["procedure:deploy", "procedure:shop"]);
    const loaded = await procedures.load("procedure:deploy", { episode });
    expect(loaded).toMatchObject({ text: "# Deploy\n\nRun the migrations first.\n", episode, shown: 1, used: 1 });
    expect(await procedures.get("procedure:shop")).toMatchObject({ shown: 1, used: 0 });
    expect((await engine.explain(episode))?.used).toEqual([{ id: loaded.memory, by: "skill" }]);
    const other = await procedures.load("procedure:deploy");
    expect(other.episode).not.toBe(episode);
    expect(other).toMatchObject({ shown: 2, used: 2 });
  });

  it("P17: have the confidence successes / (successes + failures), by their reports", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const confidence = async () => (await procedures.get("procedure:deploy"))?.confidence;
    expect(await confidence()).toBe(0.5);
    await procedures.report("procedure:deploy", { success: true, notes: "Clean." });
    expect(await confidence()).toBe(1);
    await procedures.report("procedure:deploy", { success: false });
    await procedures.report("procedure:deploy", { success: false, notes: "The lock was held." });
    expect(await procedures.get("procedure:deploy")).toMatchObject({ successes: 1, failures: 2, confidence: 0.33 });
    const notes = (await engine.history()).events.flatMap((event) => (event.type === "outcome" ? event.note : []));
    expect(notes).toEqual(["Clean.", "", "The lock was held."]);
  });

  it("P19: count a run once, whether the report or the end of the run comes first", async () => {
    for (const first of ["report", "end"] as const) {
      const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
      const episode = engine.open();
      await procedures.load("procedure:deploy", { episode });
      const steps = {
        report: () => procedures.report("procedure:deploy", { success: false, episode }),
        end: async () => engine.end(episode, { reward: true, tier: "completed" }),
      };
      await steps[first]();
      await steps[first === "end" ? "report" : "end"]();
      expect(await procedures.get("procedure:deploy")).toMatchObject({ successes: 0, failures: 1 });
    }
  });

  it("P19: give way to a run that threw, and to a checker, and keep the verdicts of two procedures apart", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/a.md": "Alpha.\n", "procedures/b.md": "Beta.\n" });
    const run = async (tier: "completed" | "observed" | "verified", reward: boolean) => {
      const episode = engine.open();
      for (const id of ["procedure:a", "procedure:b"]) await procedures.load(id, { episode });
      await procedures.report("procedure:a", { success: true, episode });
      await procedures.report("procedure:b", { success: false, episode });
      await engine.end(episode, { reward, tier });
      return Promise.all(
        ["procedure:a", "procedure:b"].map(async (id) => {
          const { successes, failures } = (await procedures.get(id)) ?? {};
          return [successes, failures];
        }),
      );
    };
    expect(await run("completed", true)).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(await run("observed", false)).toEqual([
      [1, 1],
      [0, 2],
    ]);
    expect(await run("verified", true)).toEqual([
      [2, 1],
      [1, 2],
    ]);
  });

  it("P20: count nothing for an unknown result, a report that is taken back, and a run that did not use them", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const { episode } = await procedures.load("procedure:deploy");
    await procedures.report("procedure:deploy", { success: false, episode });
    await procedures.report("procedure:deploy", { success: null, episode });
    const { episode: other } = await procedures.search({ text: "deploy" });
    await engine.report(other, { reward: true, tier: "verified" });
    expect(await procedures.get("procedure:deploy")).toMatchObject({ successes: 0, failures: 0, confidence: 0.5 });
  });

  it("P18: refuse an unknown id and a success that is no boolean, and create nothing", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    for (const [id, success] of [
      ["procedure:none", true],
      ["procedure:deploy", "false"],
      ["procedure:deploy", undefined],
    ] as const) {
      const report = procedures.report(id, { success } as never);
      await expect(report).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect((await engine.history()).events).toEqual([]);
    expect(await procedures.get("procedure:none")).toBeUndefined();
  });

  it("P15: keep their evidence in a folder whose files have other line ends, as of a checkout on Windows", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const crlf = proceduresOf({ "procedures/deploy.md": DEPLOY.replaceAll("\n", "\r\n") }, { engine }).procedures;
    await procedures.report("procedure:deploy", { success: true });
    const ids = (await procedures.list()).map(({ memory }) => memory);
    const evidence = async (): Promise<number | undefined> =>
      (await engine.memories({ collection: "procedures", ids })).memories[0]?.evidence;
    const before = await evidence();
    await crlf.search({ text: "deploy the shop" });
    expect(await evidence()).toBe(before);
  });

  it("carry what was learned into an edited and a moved file, and count each version for itself", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    for (let run = 0; run < 10; run++) await procedures.report("procedure:deploy", { success: true });
    const first = await procedures.get("procedure:deploy");
    expect(first).toMatchObject({ successes: 10 });
    write(root, "procedures/deploy.md", DEPLOY.replace("first", "last"));
    const edited = await procedures.get("procedure:deploy");
    expect(edited).toMatchObject({ successes: 0, confidence: 0.5 });
    expect(edited?.utility).toBeGreaterThan(0);
    expect(edited?.utility).toBeLessThan(first?.utility as number);
    renameSync(join(root, "procedures/deploy.md"), join(root, "procedures/release.md"));
    const moved = await procedures.get("procedure:release");
    expect(moved?.utility).toBeCloseTo(edited?.utility as number, 6);
    write(root, "procedures/release.md", DEPLOY);
    expect(await procedures.get("procedure:deploy")).toBeUndefined();
  });

  it.each([
    ["described", DEPLOY],
    ["not described", "Run the migrations first.\n"],
    ["nothing but described", markdown({ description: "Deploy the shop" }, "")],
  ])("keep evidence and counts in a moved file, there and back: %s", async (_, source) => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": source });
    const move = async (from: string, to: string) => {
      renameSync(join(root, `procedures/${from}.md`), join(root, `procedures/${to}.md`));
      return procedures.get(`procedure:${to}`);
    };
    await procedures.report("procedure:deploy", { success: true, notes: "Clean." });
    await procedures.report("procedure:deploy", { success: false, notes: "Locked." });
    await procedures.report("procedure:deploy", { success: false, notes: "Locked again." });
    const { utility = 0, lastShown } = (await procedures.get("procedure:deploy")) ?? {};
    const counts = { shown: 3, used: 3, successes: 1, failures: 2, confidence: 0.33, lastShown };
    expect(await move("deploy", "release")).toMatchObject({ ...counts, utility: expect.closeTo(utility, 6) });
    expect((await procedures.review({ dryRun: true }))[0]?.evidence.runs.map(({ note }) => note)).toEqual([
      "Clean.",
      "Locked.",
      "Locked again.",
    ]);
    expect(await move("release", "ship")).toMatchObject(counts);
    await procedures.report("procedure:ship", { success: true });
    expect(await move("ship", "deploy")).toMatchObject({ shown: 4, used: 4, successes: 2, failures: 2 });
    write(root, "procedures/deploy.md", markdown({ description: "Deploy" }, "Anew.\n"));
    expect(await procedures.get("procedure:deploy")).toMatchObject({ shown: 0, used: 0, successes: 0, failures: 0 });
  });

  it("keep evidence and counts where a move is a copy that is found before the file has gone", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    for (let run = 0; run < 3; run++) await procedures.report("procedure:deploy", { success: true });
    const { utility = 0 } = (await procedures.get("procedure:deploy")) ?? {};
    write(root, "skills/deploy/SKILL.md", DEPLOY.replace("---\n", "---\nname: deploy\n"));
    expect((await procedures.search({ text: "deploy" })).procedures).toHaveLength(2);
    rmSync(join(root, "procedures/deploy.md"));
    const counts = { shown: 5, successes: 3, utility: expect.closeTo(utility, 6) };
    expect(await procedures.get("skill:deploy")).toMatchObject(counts);
    write(root, "procedures/other.md", "Other.\n");
    expect(await procedures.get("skill:deploy")).toMatchObject(counts);
  });

  it("P22: lose no report of twenty at once", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    await Promise.all(
      Array.from({ length: 20 }, (_, run) => procedures.report("procedure:deploy", { success: run % 4 !== 0 })),
    );
    expect(await procedures.get("procedure:deploy")).toMatchObject({ successes: 15, failures: 5, confidence: 0.75 });
  });

  it("P11: are listed as ids with descriptions, and their texts are loaded by id", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY, "skills/pdf/SKILL.md": PDF });
    const { procedures: found, episode } = await procedures.search({ text: "deploy" });
    expect(found.map(({ id, description }) => `${id}: ${description}`)).toEqual([
      "procedure:deploy: How to deploy the shop",
    ]);
    expect((await procedures.load(found[0]?.id as string, { episode })).text).toContain("migrations");
  });

  it("are listed by expected use, as many as fit, so that each gets its turn and those in use stay", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const { procedures } = proceduresOf(
      Object.fromEntries(names.map((name) => [`procedures/${name}.md`, `${name}.\n`])),
    );
    const listed = async () => {
      const { procedures: found, episode } = await procedures.listing({ characters: 6 });
      for (const { id } of found) if (/[be]$/.test(id)) await procedures.load(id, { episode });
      return found
        .map(({ name }) => name)
        .sort()
        .join("");
    };
    const lists = [];
    for (let i = 0; i < 8; i++) lists.push(await listed());
    expect(lists.slice(0, 2)).toEqual(["abc", "bde"]);
    expect(new Set(lists.slice(2).flatMap((list) => [...list]))).toEqual(new Set(names));
    expect(lists.slice(2).every((list) => list.includes("b") && list.includes("e"))).toBe(true);
  });

  it("have the counts of the namespace that a run names, and take their turns in its listings", async () => {
    const files = { "procedures/a.md": "Deploy A.\n", "procedures/b.md": "Deploy B.\n" };
    const { procedures } = proceduresOf(files);
    const run = { namespace: "tenant" };
    const listed = async () => (await procedures.listing({ ...run, characters: 2 })).procedures[0]?.id;
    expect([await listed(), await listed()]).toEqual(["procedure:a", "procedure:b"]);
    await procedures.report("procedure:a", { ...run, success: true });
    expect(await procedures.load("procedure:a", run)).toMatchObject({ shown: 3, used: 2, successes: 1 });
    const { procedures: found } = await procedures.search({ ...run, text: "deploy" });
    expect(found.map(({ id, shown, successes }) => [id, shown, successes]).sort()).toEqual([
      ["procedure:a", 4, 1],
      ["procedure:b", 2, 0],
    ]);
    expect(await procedures.get("procedure:a")).toMatchObject({ shown: 0, successes: 0 });
  });

  it("are shown to the open run of an alias, in the version that it loads", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    await procedures.revise("procedure:deploy", "# Deploy\n\nRun the migrations last.\n");
    for (let run = 0; run < 8; run++) {
      const episode = engine.open({ aliases: [`run ${run}`] });
      const inRun = { episode: `run ${run}` };
      const { procedures: found, episode: searched } = await procedures.search({ text: "deploy", ...inRun });
      const loaded = await procedures.load("procedure:deploy", inRun);
      expect(found.map(({ memory }) => memory)).toEqual([loaded.memory]);
      const { episode: listed } = await procedures.listing(inRun);
      expect([searched, listed, loaded.episode]).toEqual([episode, episode, episode]);
      await engine.end(episode);
    }
  });

  it("show their texts where the run is unknown, and say so", async () => {
    const warn = vi.fn();
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY }, { logger: { warn } });
    expect(await procedures.load("procedure:deploy", { episode: "no-such-run" })).toMatchObject({
      episode: "",
      used: 0,
    });
    expect((await procedures.listing({ episode: "no-such-run" })).procedures).toHaveLength(1);
    const { procedures: found, episode } = await procedures.search({ text: "deploy", episode: "no-such-run" });
    expect([found.map(({ id }) => id), episode]).toEqual([["procedure:deploy"], ""]);
    const fields = expect.objectContaining({ code: "PROCEDURES_NOT_COUNTED", reason: "UNKNOWN_EPISODE" });
    const message = "The episode is unknown or over, so procedures are shown without counting them.";
    expect(warn.mock.calls).toEqual([
      [message, fields],
      [message, fields],
      [message, fields],
    ]);
  });

  it("show their texts where the run is over and has shown others, and say so", async () => {
    const warn = vi.fn();
    const files = { "procedures/deploy.md": DEPLOY, "procedures/ship.md": DEPLOY };
    const { procedures } = proceduresOf(files, { logger: { warn } });
    const { episode } = await procedures.load("procedure:deploy");
    expect(await procedures.load("procedure:ship", { episode })).toMatchObject({ episode: "", used: 0 });
    expect(warn.mock.calls).toEqual([
      [
        "The episode is unknown or over, so procedures are shown without counting them.",
        expect.objectContaining({ reason: "NOT_SHOWN" }),
      ],
    ]);
  });

  it("are listed, loaded and counted in a run that is shown no memory", async () => {
    const engine = createEngine({ store: memoryStore(), memoryOff: 1 });
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY }, { engine });
    const episode = engine.open();
    expect((await procedures.listing({ episode })).procedures).toHaveLength(1);
    expect((await procedures.load("procedure:deploy", { episode })).episode).toBe(episode);
    await procedures.report("procedure:deploy", { success: true });
    expect(await procedures.get("procedure:deploy")).toMatchObject({ shown: 2, used: 2, successes: 1 });
  });

  it("show their texts when the ledger fails", async () => {
    const lines: unknown[] = [];
    const logger = { warn: (...line: unknown[]) => lines.push(line), info() {}, error() {}, debug() {} };
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY }, { logger: logger as never });
    await engine.close();
    expect(await procedures.load("procedure:deploy")).toMatchObject({
      text: "# Deploy\n\nRun the migrations first.\n",
      episode: "",
    });
    expect(JSON.stringify(lines)).toContain("PROCEDURES_NOT_COUNTED");
  });
});
