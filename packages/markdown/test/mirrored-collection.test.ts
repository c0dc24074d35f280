import { renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { localMemories } from "@qavr/local";
import { expect, it, onTestFinished } from "vitest";
import { mirroring } from "../src/mirrored-collection.js";
import { markdown, proceduresIn, proceduresOf } from "./support/procedures.js";
import { engineAt, lessonsIn, vault } from "./support/vault.js";

it("a mirrored collection lets a caller go on although its files change all the time", async () => {
  let changes = 0;
  const stamps = async () => new Map([["lessons.md", String(changes++)]]);
  let read = 0;
  const sync = mirroring({ stamps }, { size: async () => 0 }, async () => {
    if (++read > 1_000) throw new Error("It reads for ever.");
    return stamps();
  });
  await sync();
  const first = read;
  await sync();
  expect(read).toBeGreaterThan(first);
});

it.each(["lessons", "procedures"])(
  "files stand beside own memories named %s, which have the same file by default",
  async (name) => {
    const { root, procedures } = proceduresOf({
      "procedures/deploy.md": markdown({ description: "Deploy" }, "Steps.\n"),
    });
    const notes = localMemories({ path: join(root, `.qavr/${name}.db`), name });
    onTestFinished(() => notes.close());
    await notes.add("Deploy on Mondays");
    const lessons = lessonsIn(root, { engine: procedures.engine });
    await lessons.capture({ project: "shop", title: "Deploy", body: "Not on Fridays." });
    expect((await procedures.search({ text: "deploy" })).procedures).toMatchObject([{ id: "procedure:deploy" }]);
    expect((await lessons.search({ text: "deploy" })).lessons).toMatchObject([{ title: "Deploy" }]);
    expect(await notes.search({ text: "deploy" })).toMatchObject([{ text: "Deploy on Mondays" }]);
  },
);

it("lessons of a file that came and went between two looks are gone, though another process has seen it", async () => {
  const root = vault({ "shop/90-lessons.md": "### [2026-01-02] Deploy\n\nNot on Fridays.\n" });
  const lessons = lessonsIn(root, engineAt({ now: 0 }));
  await lessons.list();
  await lessonsIn(root, engineAt({ now: 0 })).capture({ project: "branch", title: "Deploy", body: "On Fridays." });
  rmSync(join(root, "branch"), { recursive: true });
  expect((await lessons.search({ text: "deploy" })).lessons).toMatchObject([{ body: "Not on Fridays." }]);
  expect(await lessons.list()).toHaveLength(1);
});

it("files that were away between two looks are found, though another process has missed them", async () => {
  const root = vault({
    "shop/90-lessons.md": "### [2026-01-02] Deploy\n\nNot on Fridays.\n",
    "procedures/deploy.md": "Wait for the lock.\n",
  });
  const open = () => ({
    lessons: lessonsIn(root, engineAt({ now: 0 })),
    procedures: proceduresIn(root, engineAt({ now: 0 })),
  });
  const first = open();
  const looks = async ({ lessons, procedures } = first) => [
    (await lessons.search({ text: "Fridays" })).lessons.length,
    (await procedures.search({ text: "lock" })).procedures.length,
  ];
  expect(await looks()).toEqual([1, 1]);
  const folders = ["shop", "procedures"];
  for (const name of folders) renameSync(join(root, name), join(root, `.${name}`));
  expect(await looks(open())).toEqual([0, 0]);
  for (const name of folders) renameSync(join(root, `.${name}`), join(root, name));
  expect(await looks()).toEqual([1, 1]);
});

it("files stay where they were opened when the process changes its folder", async () => {
  const root = vault({
    "shop/90-lessons.md": "### [2026-01-02] Deploy\n\nNot on Fridays.\n",
    "procedures/deploy.md": "Wait for the lock.\n",
  });
  const folder = process.cwd();
  onTestFinished(() => process.chdir(folder));
  process.chdir(dirname(root));
  const lessons = lessonsIn(basename(root), engineAt({ now: 0 }));
  const procedures = proceduresIn(basename(root), engineAt({ now: 0 }));
  process.chdir(vault());
  expect(await lessons.list()).toMatchObject([{ title: "Deploy" }]);
  expect(await procedures.list()).toMatchObject([{ id: "procedure:deploy" }]);
});
