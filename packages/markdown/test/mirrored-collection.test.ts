import { expect, it } from "vitest";
import { mirroring } from "../src/mirrored-collection.js";

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
