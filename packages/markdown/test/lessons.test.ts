import { readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createEngine, type LogFields, memoryStore } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { engineAt, lesson, lessonsIn, titles, vault, write } from "./support/vault.js";

const DAY = 86_400_000;
const START = Date.parse("2026-03-01T12:00:00Z");
const KUBELAB = "kubelab/90-lessons.md";
const FILES = {
  [KUBELAB]: `# Lessons

### [2026-01-02] EACCES on deploy

Fix the permissions of the folder before the deploy.

### [2026-01-03] Cache on deploy

confidence: 0.9

Clear the cache when a deploy fails.
`,
  "hive/90-lessons.md": "### [2026-01-04] WAL\n\nUse WAL for concurrent readers.\n",
};

describe("lessons", () => {
  it("L3, L6: begin with their own confidence, else 0.7, without a migration", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    expect(await lessons.list()).toMatchObject([
      { title: "WAL", reinforcements: 0, confidence: 0.7, firstSeen: "2026-01-04", project: "hive" },
      { title: "EACCES on deploy", reinforcements: 0, confidence: 0.7, path: KUBELAB },
      { title: "Cache on deploy", reinforcements: 0, confidence: 0.9 },
    ]);
    await lessons.read("hive");
    expect(await lesson(lessons, "WAL")).toMatchObject({ reinforcements: 1, confidence: expect.closeTo(0.73, 12) });
    await lessons.read("kubelab");
    expect((await lesson(lessons, "Cache")).confidence).toBeCloseTo(0.91, 12);
  });

  it("L3: with a confidence outside [0, 1] get the nearest end, and say so", async () => {
    const lines: (LogFields & { readonly message: string })[] = [];
    const root = vault({
      "90-lessons.md": "### [2026-01-02] a\nconfidence: 7\n\nbody\n### [2026-01-02] b\nconfidence: -1\n\nbody",
    });
    const lessons = lessonsIn(root, {
      ...engineAt({ now: START }),
      logger: { warn: (message, fields) => lines.push({ message, ...fields }) },
    });
    expect((await lessons.list()).map(({ confidence }) => confidence)).toEqual([1, 0]);
    expect(lines.map(({ code }) => code)).toEqual(["LESSON_CONFIDENCE_CLAMPED", "LESSON_CONFIDENCE_CLAMPED"]);
    expect(lines[0]?.message).toContain("90-lessons.md");
    await expect(lessons.capture({ project: ".", title: "c", body: "body", confidence: 1.5 })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  it("L4: keep their evidence when an editor or a checkout changes the line ends of the file", async () => {
    const source = "### [2026-01-02] EACCES on deploy\n\nFix the permissions,\nthen deploy.\n";
    const root = vault({ [KUBELAB]: source });
    const lessons = lessonsIn(root);
    const { episode } = await lessons.search({ text: "EACCES on deploy" });
    await lessons.engine.report(episode, { reward: true });
    const ids = (await lessons.list()).map(({ id }) => id);
    const evidence = async (): Promise<number | undefined> =>
      (await lessons.engine.memories({ collection: "lessons", ids })).memories[0]?.evidence;
    const before = await evidence();
    for (const lineEnd of ["\r\n", "\n"]) {
      write(root, KUBELAB, source.replaceAll("\n", lineEnd));
      await lessons.search({ text: "EACCES on deploy" });
      expect(await evidence()).toBe(before);
    }
  });

  it("L4: are read also where the engine shows some runs no memory, to compare", async () => {
    const lessons = lessonsIn(vault(FILES), { engine: createEngine({ store: memoryStore(), memoryOff: 1 }) });
    expect(titles((await lessons.search({ text: "WAL" })).lessons)).toEqual([]);
    expect(titles((await lessons.read("hive")).lessons)).toEqual(["WAL"]);
    expect(await lesson(lessons, "WAL")).toMatchObject({ reinforcements: 1 });
  });

  it("L4: count each showing once per query, on every surface", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    const counts = async (): Promise<number[]> => (await lessons.list()).map(({ reinforcements }) => reinforcements);
    expect((await lessons.search({ text: "deploy deploy deploy" })).lessons).toHaveLength(2);
    expect(await counts()).toEqual([0, 1, 1]);
    await lessons.read("kubelab");
    expect(await counts()).toEqual([0, 2, 2]);
    await lessons.search({ text: "EACCES", limit: 1 });
    expect(await counts()).toEqual([0, 3, 2]);
    expect(await lessons.search({ text: "nothing alike" })).toEqual({ lessons: [], episode: "" });
    await lessons.collection.search({ text: "deploy" });
    expect(await counts()).toEqual([0, 3, 2]);
  });

  it("L5: count ten parallel readings as ten, and five as 0.822853", async () => {
    const lessons = lessonsIn(vault(FILES));
    await Promise.all(Array.from({ length: 10 }, () => lessons.search({ text: "EACCES", limit: 1 })));
    expect((await lesson(lessons, "EACCES")).reinforcements).toBe(10);
    for (let i = 0; i < 5; i++) await lessons.search({ text: "WAL", limit: 1 });
    expect(await lesson(lessons, "WAL")).toMatchObject({ reinforcements: 5, confidence: expect.closeTo(0.822853, 12) });
  });

  it("L5: keep confidence at 1 or below after 100 readings", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    await Promise.all(Array.from({ length: 100 }, () => lessons.read("hive")));
    expect(await lesson(lessons, "WAL")).toMatchObject({ reinforcements: 100, confidence: expect.closeTo(1, 4) });
    expect((await lesson(lessons, "WAL")).confidence).toBeLessThanOrEqual(1);
  });

  it("L7: keep the order of the match unless another is asked for, and every order has the same lessons", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    const match = (await lessons.collection.search({ text: "deploy cache" })).map(({ id }) => id);
    for (let i = 0; i < 3; i++) await lessons.search({ text: "EACCES", limit: 1 });
    for (const rankBy of [undefined, "bm25", "learned", "reinforcements", "confidence", "hybrid"] as const) {
      const ids = (await lessons.search({ text: "deploy cache", rankBy })).lessons.map(({ id }) => id);
      if (rankBy === undefined || rankBy === "bm25") expect(ids).toEqual(match);
      expect([...ids].sort()).toEqual([...match].sort());
    }
    const wrong = lessons.search({ text: "deploy", rankBy: "newest" as never });
    await expect(wrong).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(wrong).rejects.toThrow(/"bm25" or "reinforcements" or "confidence" or "hybrid" or "learned"/);
  });

  it("L8: order by readings or confidence, then by the last reading", async () => {
    const clock = { now: START };
    const { engine } = engineAt(clock);
    const lessons = lessonsIn(vault(FILES), { engine });
    const order = async (rankBy: "reinforcements" | "confidence"): Promise<string[]> =>
      titles((await lessons.search({ text: "deploy", rankBy })).lessons);
    await lessons.search({ text: "cache", limit: 1 });
    clock.now += 1;
    await lessons.search({ text: "EACCES", limit: 1 });
    expect(await order("reinforcements")).toEqual(["EACCES on deploy", "Cache on deploy"]);
    expect(await order("confidence")).toEqual(["Cache on deploy", "EACCES on deploy"]);
    clock.now += DAY;
    await lessons.search({ text: "cache", limit: 1 });
    expect(await order("reinforcements")).toEqual(["Cache on deploy", "EACCES on deploy"]);
  });

  it("L9: mix match and confidence by alpha; at 1 the match alone counts", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    const order = async (alpha?: number): Promise<string[]> =>
      titles((await lessons.search({ text: "EACCES deploy", rankBy: "hybrid", alpha })).lessons);
    expect(await order(1)).toEqual(["EACCES on deploy", "Cache on deploy"]);
    expect(await order(0)).toEqual(["Cache on deploy", "EACCES on deploy"]);
    expect(await order()).toEqual(["EACCES on deploy", "Cache on deploy"]);
    await expect(order(1.1)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("learn from outcomes in the order learned", async () => {
    const lessons = lessonsIn(vault(FILES), engineAt({ now: START }));
    const first = await lessons.search({ text: "deploy", rankBy: "learned" });
    const [a, b] = first.lessons;
    for (let i = 0; i < 5; i++) {
      const { episode } = await lessons.search({ text: "deploy", rankBy: "learned" });
      await lessons.engine.report(episode, { harmful: [a?.id ?? ""], helpful: [b?.id ?? ""] });
    }
    expect((await lessons.search({ text: "deploy", rankBy: "learned" })).lessons[0]?.id).toBe(b?.id);
    expect((await lessons.search({ text: "deploy" })).lessons[0]?.id).toBe(a?.id);
  });

  it("L10: leave files as they are", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root, engineAt({ now: START }));
    const stamps = Object.keys(FILES).map((path) => statSync(join(root, path)).mtimeMs);
    await lessons.search({ text: "deploy" });
    await lessons.read("hive");
    for (const [i, [path, text]] of Object.entries(FILES).entries()) {
      expect(readFileSync(join(root, path), "utf8")).toBe(text);
      expect(statSync(join(root, path)).mtimeMs).toBe(stamps[i]);
    }
  });

  it("L11: come with counts, confidence, and first and last reading", async () => {
    const clock = { now: START };
    const { engine } = engineAt(clock);
    const lessons = lessonsIn(vault(FILES), { engine });
    await lessons.search({ text: "WAL" });
    clock.now += DAY;
    expect((await lessons.search({ text: "WAL" })).lessons).toEqual([
      {
        id: expect.stringMatching(/^lesson:/),
        path: "hive/90-lessons.md",
        project: "hive",
        title: "WAL",
        body: "Use WAL for concurrent readers.",
        reinforcements: 1,
        confidence: expect.closeTo(0.73, 12),
        firstSeen: "2026-01-04",
        lastReferenced: START,
        similarity: expect.any(Number),
      },
    ]);
  });

  it("L13: keep their counts under a new heading, with a new body, in a moved folder, and after an absence", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root, engineAt({ now: START }));
    await lessons.search({ text: "EACCES", limit: 1 });
    const { id } = await lesson(lessons, "EACCES");
    const expectKept = async (words: string, project = "kubelab"): Promise<void> =>
      expect(await lesson(lessons, words)).toMatchObject({ id, project, reinforcements: 1 });

    write(root, KUBELAB, FILES[KUBELAB].replace("[2026-01-02] EACCES", "[2026-01-02]   EACCES"));
    await expectKept("EACCES");
    const renamed = FILES[KUBELAB].replace("EACCES on deploy", "Permission denied");
    write(root, KUBELAB, renamed);
    await expectKept("Permission");
    write(root, KUBELAB, renamed.replace("before the deploy", "first"));
    await expectKept("Permission");
    renameSync(join(root, "kubelab"), join(root, "cluster"));
    await expectKept("Permission", "cluster");
    const text = readFileSync(join(root, "cluster/90-lessons.md"), "utf8");
    rmSync(join(root, "cluster"), { recursive: true });
    expect(await lessons.list()).toHaveLength(1);
    write(root, KUBELAB, text);
    await expectKept("Permission");
  });

  it("L13: are new where the old heading gets a new body beside the renamed lesson, and where a file is copied", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root, engineAt({ now: START }));
    await lessons.read("kubelab");
    const { id } = await lesson(lessons, "EACCES");
    const renamed = FILES[KUBELAB].replace("EACCES on deploy", "Permission denied");
    write(root, KUBELAB, renamed);
    await lessons.list();
    write(root, KUBELAB, `${renamed}\n### [2026-01-02] EACCES on deploy\n\nAnother matter.\n`);
    expect(await lesson(lessons, "EACCES")).toMatchObject({ reinforcements: 0 });
    expect(await lesson(lessons, "Permission")).toMatchObject({ id, reinforcements: 1 });
    write(root, "copy/90-lessons.md", renamed);
    expect((await lessons.list()).map(({ reinforcements }) => reinforcements)).toEqual([0, 0, 0, 1, 1, 0]);
  });

  it("L13: stay in their files where two of one body get new headings at once", async () => {
    const root = vault({ "b/90-lessons.md": "### [2026-01-02] b\n\nThe same.\n" });
    const lessons = lessonsIn(root, engineAt({ now: START }));
    const { id } = await lesson(lessons, "b");
    write(root, "a/90-lessons.md", "### [2026-01-02] a\n\nThe same.\n");
    await lessons.list();
    write(root, "a/90-lessons.md", "### [2026-01-02] new a\n\nThe same.\n");
    write(root, "b/90-lessons.md", "### [2026-01-02] new b\n\nThe same.\n");
    expect(await lesson(lessons, "b")).toMatchObject({ id, project: "b" });
  });

  it("L13: are new under a new heading where they have no body", async () => {
    const root = vault({ [KUBELAB]: "### [2026-01-02] Use WAL\n" });
    const lessons = lessonsIn(root, engineAt({ now: START }));
    await lessons.read("kubelab");
    write(root, KUBELAB, "### [2026-01-02] Clear the cache\n");
    expect(await lessons.list()).toMatchObject([{ title: "Clear the cache", reinforcements: 0 }]);
  });

  it("are as many as in the file, and in its order, where one is put first and two are the same", async () => {
    const root = vault({ [KUBELAB]: "### [2026-01-02] twin\n\nbody\n\n### [2026-01-02] twin\n\nbody\n" });
    const lessons = lessonsIn(root, engineAt({ now: START }));
    expect(titles(await lessons.list())).toEqual(["twin", "twin"]);
    write(root, KUBELAB, `### [2026-01-03] first\n\nbody of it\n\n${readFileSync(join(root, KUBELAB), "utf8")}`);
    expect(titles(await lessons.list())).toEqual(["first", "twin", "twin"]);
  });

  it("are found as the files are now, in projects of their own", async () => {
    const root = vault(FILES);
    const lessons = lessonsIn(root, engineAt({ now: START }));
    await lessons.list();
    write(root, "hive/90-lessons.md", "### [2026-01-05] Vacuum\n\nRun VACUUM after a purge.\n");
    expect(titles((await lessons.search({ text: "vacuum purge" })).lessons)).toEqual(["Vacuum"]);
    expect((await lessons.search({ text: "WAL" })).lessons).toEqual([]);
    expect((await lessons.search({ text: "deploy", project: "hive" })).lessons).toEqual([]);
    write(root, "node_modules/x/90-lessons.md", FILES[KUBELAB]);
    expect(await lessons.list()).toHaveLength(3);
  });

  it("are shown without their counts while the ledger fails", async () => {
    const { engine } = engineAt({ now: START });
    const lines: LogFields[] = [];
    const lessons = lessonsIn(vault(FILES), { engine, logger: { warn: (_, fields) => lines.push(fields) } });
    await engine.close();
    expect((await lessons.search({ text: "WAL" })).lessons).toMatchObject([{ title: "WAL", reinforcements: 0 }]);
    expect(new Set(lines.map(({ code }) => code))).toEqual(new Set(["LESSONS_NOT_COUNTED"]));
  });
});
