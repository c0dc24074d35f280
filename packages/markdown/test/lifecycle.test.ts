import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createEngine, memoryStore } from "@qavr/core";
import { revoke } from "@qavr/core/maintenance";
import { validate } from "skills-ref";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Procedures } from "../src/index.js";
import { markdown, proceduresOf } from "./support/procedures.js";
import { write } from "./support/vault.js";

const DEPLOY = markdown({ description: "Deploy the shop", owner: "ops # ours" }, "# Deploy\n\nDeploy at once.\n");
const ID = "procedure:deploy";
const DAY = 86_400_000;

/** Reports outcomes of runs of their own, one after the other. */
async function reports(procedures: Procedures, id: string, outcomes: readonly boolean[], notes = ""): Promise<void> {
  for (const success of outcomes) await procedures.report(id, { success, notes });
}

const actions = async (procedures: Procedures): Promise<readonly string[]> =>
  (await procedures.review({ dryRun: true })).map(({ id, action }) => `${action} ${id}`);

afterEach(() => vi.useRealTimers());

describe("review()", () => {
  it("P24: revises what failed twice, from its runs, and leaves it as it is when the model's answer has another form", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    await reports(procedures, ID, [false], "The lock was held.");
    expect(await actions(procedures)).toEqual([]);
    await reports(procedures, ID, [true, false], "Migrations were missing.");
    const [proposal] = await procedures.review({ dryRun: true });
    expect(proposal).toMatchObject({
      action: "revise",
      done: false,
      evidence: { file: { successes: 1, failures: 2 } },
    });
    expect(proposal?.evidence.runs.map(({ success, note }) => [success, note])).toEqual([
      [false, "The lock was held."],
      [true, "Migrations were missing."],
      [false, "Migrations were missing."],
    ]);
    for (const answer of ["", "I cannot.", "<procedure>\n \n</procedure>", undefined, { text: "x" }]) {
      expect((await procedures.review({ model: async () => answer as string }))[0]?.done).toBe(false);
    }
    let prompt = "";
    const model = async (asked: string) => {
      prompt = asked;
      return "Here:\n<procedure>\n# Deploy\n\nWait for the lock.\n</procedure>";
    };
    expect((await procedures.review({ model }))[0]).toMatchObject({ action: "revise", done: true });
    expect(prompt).toContain("- failed: The lock was held.");
    expect(readFileSync(join(root, "procedures/deploy.md"), "utf8")).toBe(DEPLOY);
    const texts = new Set<string>();
    for (let i = 0; i < 20; i++) texts.add((await procedures.load(ID)).text);
    expect([...texts].sort()).toEqual(["# Deploy\n\nDeploy at once.\n", "# Deploy\n\nWait for the lock.\n"]);
  });

  it("P24: tells the model of each run what counts: the better tier, and no report that was taken back", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    for (let i = 0; i < 2; i++) {
      const { episode } = await procedures.load(ID);
      await procedures.report(ID, { success: true, notes: "All fine.", episode });
      await procedures.engine.report(episode, { reward: false, tier: "verified", source: "checker" });
      await procedures.engine.report(episode, { reward: true, tier: "completed" });
    }
    const { episode } = await procedures.load(ID);
    await procedures.report(ID, { success: true, episode });
    await procedures.report(ID, { success: null, notes: "It was another one.", episode });
    const [proposal] = await procedures.review({ dryRun: true });
    expect(proposal).toMatchObject({ action: "revise", evidence: { file: { successes: 0, failures: 2 } } });
    expect(proposal?.evidence.runs).toMatchObject([
      { success: false, note: "All fine." },
      { success: false, note: "All fine." },
    ]);
    expect(await procedures.distil({ model: async () => "no runs to tell of", since: 0 })).toEqual([]);
  });

  it("P24: tells the model of the rewards of runs that used the procedure, of those alone, and of votes before rewards of their tier", async () => {
    const { procedures, engine } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const { episode: other } = await procedures.search({ text: "deploy" });
    await engine.report(other, { reward: 0, note: "It used none." });
    for (const reward of [0.5, 0.4, 0]) await engine.report((await procedures.load(ID)).episode, { reward });
    const rewarded = async (reward: number, vote: "harmful" | "neutral") => {
      const { episode, memory } = await procedures.load(ID);
      await engine.report(episode, { reward, note: `${vote} ${reward}`, tier: "user", source: "person" });
      await engine.report(episode, { reward: null, [vote]: [memory], tier: "user", source: "another" });
    };
    await rewarded(1, "harmful");
    await rewarded(1, "neutral");
    const [proposal] = await procedures.review({ dryRun: true });
    expect(proposal?.evidence.runs.map(({ success, note }) => [success, note])).toEqual([
      [true, ""],
      [false, ""],
      [false, ""],
      [false, "harmful 1"],
      [true, "neutral 1"],
    ]);
  });

  it("P24: tells the model of each procedure that a run used, also where that is said after the reward", async () => {
    const { procedures, engine } = proceduresOf({ "procedures/deploy.md": DEPLOY, "procedures/ship.md": DEPLOY });
    for (let run = 0; run < 2; run++) {
      const { episode } = await procedures.search({ text: "deploy" });
      for (const id of [ID, "procedure:ship"]) await procedures.load(id, { episode });
      await engine.report(episode, { reward: 0 });
      const { episode: late } = await procedures.search({ text: "deploy" });
      await engine.report(late, { reward: 0 });
      await engine.report(late, { reward: null, used: ["m1", "m2"] });
    }
    const proposals = await procedures.review({ dryRun: true });
    expect(proposals.map(({ id, evidence }) => [id, evidence.file.failures, evidence.runs.length])).toEqual([
      [ID, 4, 4],
      ["procedure:ship", 4, 4],
    ]);
  });

  it("P24: shows the model no report that was revoked", async () => {
    const { procedures, engine } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const { episode, memory } = await procedures.load(ID);
    const said = { source: "stranger", note: "I tried it." };
    await engine.report(episode, { ...said, reward: true, helpful: [memory] });
    await reports(procedures, ID, [false], "The lock was held.");
    await revoke(engine, { namespace: "default", source: "stranger" });
    await engine.report((await procedures.load(ID)).episode, { ...said, reward: false, harmful: [memory] });
    const [proposal] = await procedures.review({ dryRun: true });
    expect(proposal?.evidence.runs.map(({ note }) => note)).toEqual(["The lock was held.", "I tried it."]);
    expect(await procedures.distil({ model: async () => "no runs to tell of", since: 0 })).toEqual([]);
  });

  it("P24: shows the model no report in a range that was revoked, of which the ends are part", async () => {
    let now = Date.now();
    const engine = createEngine({ store: memoryStore(), clock: () => now });
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY }, { engine });
    for (let run = 0; run < 6; run++) {
      now += 1_000;
      await reports(procedures, ID, [false], `Run ${run}.`);
    }
    const outcomes = (await engine.history()).events.filter(({ type }) => type === "outcome");
    const [from, to, fromSeq] = [outcomes[1]?.at, outcomes[2]?.at, outcomes[4]?.seq] as [number, number, number];
    await revoke(engine, { namespace: "default", from, to });
    await revoke(engine, { namespace: "default", fromSeq, toSeq: fromSeq });
    const [proposal] = await procedures.review({ dryRun: true });
    expect(proposal?.evidence.runs.map(({ note }) => note)).toEqual(["Run 0.", "Run 3.", "Run 5."]);
  });

  it("P24: adopts a revision that proves better: an archived copy, a new body, all else in the file as it was", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    await reports(procedures, ID, [false, false]);
    const revision = await procedures.revise(ID, "# Deploy\n\nWait for the lock.\n");
    await expect(procedures.revise(ID, "Another.\n")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const adopted = await until(procedures, (text) => text.includes("Wait"));
    expect(adopted).toMatchObject({ action: "adopt", done: true });
    expect(adopted.evidence.revision?.failures).toBe(0);
    expect(readFileSync(join(root, "procedures/deploy.md"), "utf8")).toBe(
      DEPLOY.replace("Deploy at once.", "Wait for the lock."),
    );
    const [copy] = await procedures.archived();
    expect(readFileSync(join(root, copy?.copy as string), "utf8")).toBe(DEPLOY);
    const now = await procedures.get(ID);
    // Its evidence goes on where the trial ended, and the failures of the version before stay with that version.
    expect(now).toMatchObject({ memory: revision, failures: 0 });
    expect(now?.successes).toBeGreaterThan(0);
    expect(await actions(procedures)).not.toContain(`revise ${ID}`);
  });

  it("P24: takes a revision back that proves worse, after a few runs, and shows it no more", async () => {
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    await reports(procedures, ID, [true, true, false, true]);
    await procedures.revise(ID, "Deploy blindly.\n");
    const rolledBack = await until(procedures, (text) => !text.includes("blindly"));
    expect(rolledBack).toMatchObject({ action: "roll back", done: true });
    for (let i = 0; i < 10; i++) expect((await procedures.load(ID)).text).toContain("at once");
    expect(readFileSync(join(root, "procedures/deploy.md"), "utf8")).toBe(DEPLOY);
    expect((await procedures.search({ text: "blindly" })).procedures).toEqual([]);
  });

  it("gives and credits the version of a trial that is named, in a run that was shown none", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const revision = await procedures.revise(ID, "Wait.\n");
    for (let run = 0; run < 6; run++) expect((await procedures.load(revision)).text).toBe("Wait.\n");
    await reports(procedures, revision, [true, true, true, false, false, false]);
    expect(await procedures.get(ID)).toMatchObject({ used: 0, successes: 0, failures: 0 });
  });

  it("P24: puts no text on trial against itself, and adopts in the line ends of the file", async () => {
    const crlf = DEPLOY.replaceAll("\n", "\r\n");
    const { root, procedures } = proceduresOf({ "procedures/deploy.md": crlf });
    await reports(procedures, ID, [false, false]);
    const same = "# Deploy\n\nDeploy at once.\n";
    await expect(procedures.revise(ID, same)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    for (let review = 0; review < 2; review++) {
      const [proposal] = await procedures.review({ model: async () => `<procedure>\n${same}</procedure>` });
      expect(proposal).toMatchObject({ action: "revise", done: false });
    }
    await procedures.revise(ID, "# Deploy\n\nWait for the lock.\n");
    await until(procedures, (text) => text.includes("Wait"));
    expect(readFileSync(join(root, "procedures/deploy.md"), "utf8")).toBe(
      crlf.replace("Deploy at once.", "Wait for the lock."),
    );
  });

  it("P24: gives an episode one version in searches, loads and reports, and forgets a trial when the file is edited", async () => {
    const { root, engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const revision = await procedures.revise(ID, "# Deploy\n\nWait for the lock.\n");
    let revised = 0;
    for (let i = 0; i < 40; i++) {
      const { procedures: found, episode } = await procedures.search({ text: "deploy" });
      const { memory, text } = await procedures.load(ID, { episode });
      expect([found.length, found[0]?.memory, found[0]?.text]).toEqual([1, memory, text]);
      await procedures.report(ID, { success: true, episode });
      expect((await engine.explain(episode))?.votes?.map(({ id }) => id)).toEqual([memory]);
      if (memory === revision) revised += 1;
    }
    expect(revised).toBeGreaterThan(4);
    expect(revised).toBeLessThan(36);
    const hits = await Promise.all(Array.from({ length: 20 }, () => procedures.collection.search({ text: "deploy" })));
    expect(new Set(hits.map(([hit]) => hit?.id)).size).toBe(2);
    write(root, "procedures/deploy.md", DEPLOY.replace("at once", "with care"));
    for (let i = 0; i < 20; i++) expect((await procedures.load(i ? ID : revision)).text).toContain("with care");
  });

  it("P25: retires what keeps failing and what is not used, keeps what has proven itself, and restores", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
    const files = {
      "procedures/bad.md": "Bad.\n",
      "procedures/old.md": "Old.\n",
      "procedures/good/deep.md": "Good.\n",
    };
    const { root, procedures } = proceduresOf(files);
    await reports(procedures, "procedure:bad", [false, false, false, true, false]);
    await reports(procedures, "procedure:good/deep", [true, true, true]);
    await reports(procedures, "procedure:old", [true]);
    expect(await actions(procedures)).toEqual(["retire procedure:bad"]);
    vi.setSystemTime(Date.parse("2026-07-01T00:00:00Z"));
    expect(await actions(procedures)).toEqual(["retire procedure:bad", "retire procedure:old"]);
    const retired = await procedures.review();
    expect(retired.find(({ id }) => id === "procedure:old")?.reason).toBe(
      "It was used once, and not shown for 181 days.",
    );
    expect(retired.map(({ done }) => done)).toEqual([true, true]);
    expect((await procedures.list()).map(({ id }) => id)).toEqual(["procedure:good/deep"]);
    expect(existsSync(join(root, "procedures/bad.md"))).toBe(false);
    const [bad] = await procedures.archived();
    await procedures.restore(bad?.copy as string);
    expect(readFileSync(join(root, "procedures/bad.md"), "utf8")).toBe("Bad.\n");
    expect(await procedures.get("procedure:bad")).toMatchObject({ successes: 1, failures: 4 });
    await expect(procedures.restore(bad?.copy as string)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    for (const copy of ["../secret.md", ".qavr/archive/../../secret.md"]) {
      await expect(procedures.restore(copy)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("P25: lists the copies in its archive, and no file that somebody else put there", async () => {
    const files = { "procedures/deploy.md": DEPLOY, ".qavr/archive/README.md": "Kept for the audit.\n" };
    const { procedures } = proceduresOf(files);
    expect(await procedures.archived()).toEqual([]);
    await reports(procedures, ID, [false, false, false]);
    await procedures.review();
    expect(await procedures.archived()).toMatchObject([{ id: ID, path: "procedures/deploy.md" }]);
  });

  it("P25: retires nothing as unused where all is shown in other namespaces", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    await procedures.search({ text: "deploy", namespace: "tenant" });
    vi.setSystemTime(Date.now() + 200 * DAY);
    expect(await actions(procedures)).toEqual([]);
    await procedures.search({ text: "deploy" });
    vi.setSystemTime(Date.now() + 200 * DAY);
    expect(await actions(procedures)).toEqual([`retire ${ID}`]);
  });

  it.skipIf(process.platform === "win32")("P25: is archived and restored for those alone who may read it", async () => {
    const { root, procedures } = proceduresOf({ "procedures/bad.md": "Bad.\n" });
    const modeOf = (path: string) => statSync(join(root, path)).mode & 0o777;
    chmodSync(join(root, "procedures/bad.md"), 0o600);
    await reports(procedures, "procedure:bad", [false, false, false, false, false]);
    await procedures.review();
    const [bad] = await procedures.archived();
    expect(modeOf(bad?.copy as string)).toBe(0o600);
    await procedures.restore(bad?.copy as string);
    expect(modeOf("procedures/bad.md")).toBe(0o600);
  });

  it("P25: protects nothing by its past: after an edit only evidence at the new text counts", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
    const { root, procedures } = proceduresOf({ "procedures/a/deploy.md": DEPLOY });
    await reports(procedures, "procedure:a/deploy", Array(20).fill(true));
    write(root, "procedures/a/deploy.md", DEPLOY.replace("at once", "never"));
    await reports(procedures, "procedure:a/deploy", [false, false, false]);
    expect(await actions(procedures)).toEqual(["retire procedure:a/deploy"]);
    vi.setSystemTime(Date.now() + 200 * DAY);
    expect(await actions(procedures)).toEqual(["retire procedure:a/deploy"]);
  });

  it("P26: makes a proven procedure a valid skill, which begins with its evidence", async () => {
    const { root, procedures } = proceduresOf({ "procedures/Rotate_Keys.md": "Rotate the keys.\n" });
    await reports(procedures, "procedure:Rotate_Keys", [true, true, true, true]);
    const before = await procedures.get("procedure:Rotate_Keys");
    expect(await procedures.review()).toMatchObject([{ action: "promote", done: true }]);
    const [skill] = await procedures.list();
    expect(skill).toMatchObject({ id: "skill:rotate-keys", kind: "skill", findings: [], description: "Rotate Keys" });
    expect(skill?.utility).toBeCloseTo(before?.utility as number, 6);
    expect(await validate(join(root, "skills/rotate-keys"))).toEqual([]);
    expect((await procedures.archived()).map(({ id }) => id)).toEqual(["procedure:Rotate_Keys"]);
    expect(await procedures.review()).toEqual([]);
  });

  it.each([
    ["Deploy Shop", "deploy-shop"],
    [`${"rotate ".repeat(8)}rotated keys`, `${"rotate-".repeat(8)}rotated`],
  ])("P26: names the skill for its folder, and keeps other fields where skills have them: %s", async (name, folder) => {
    const { root, procedures } = proceduresOf({
      "procedures/ops.md": markdown({ name, description: "By hand", tags: "[helm, shop]" }, "Deploy.\n"),
    });
    await reports(procedures, "procedure:ops", [true, true, true]);
    expect(await procedures.review()).toMatchObject([{ action: "promote", done: true }]);
    const [skill] = await procedures.list();
    expect(skill).toMatchObject({
      id: `skill:${folder}`,
      tags: ["helm", "shop"],
      findings: [],
      description: "By hand",
    });
    expect(await validate(join(root, "skills", folder))).toEqual([]);
  });

  it("P26: leaves a procedure as it is whose name has no letter that the name of a skill may have", async () => {
    const { root, procedures } = proceduresOf({ "procedures/🚀.md": "Launch.\n" });
    await reports(procedures, "procedure:🚀", [true, true, true]);
    expect(await procedures.review()).toEqual([]);
    expect(existsSync(join(root, "skills"))).toBe(false);
  });

  it("says when each job ran last", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    expect(await procedures.lastRuns()).toEqual({});
    await procedures.review({ dryRun: true });
    await procedures.review();
    await procedures.migrate();
    expect(Object.keys(await procedures.lastRuns()).sort()).toEqual(["migrate", "review"]);
  });
});

/** Runs that succeed with some texts and fail with others, until a review decides the trial. */
async function until(procedures: Procedures, isGood: (text: string) => boolean) {
  for (let run = 0; run < 200; run++) {
    const { text, episode } = await procedures.load(ID);
    await procedures.report(ID, { success: isGood(text), episode });
    const [verdict] = await procedures.review();
    if (verdict) return verdict;
  }
  throw new Error("The trial was not decided.");
}
