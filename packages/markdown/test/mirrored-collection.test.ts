import { join } from "node:path";
import { localMemories } from "@qavr/local";
import { expect, it, onTestFinished } from "vitest";
import { mirroring } from "../src/mirrored-collection.js";
import { markdown, proceduresOf } from "./support/procedures.js";
import { lessonsIn } from "./support/vault.js";

it("a mirrored collection lets a caller go on although its files change all the time", async () => {
  let changes = 0;
  const stamps = async () => new Map([["lessons.md", String(changes++)]]);
  let read = 0;
  const sync = mirroring({ stamps }, async () => {
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
