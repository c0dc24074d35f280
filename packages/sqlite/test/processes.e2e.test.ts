import { describe, expect, it } from "vitest";
import { countIn } from "../../core/test/support/counting.js";
import { sqliteStore } from "../src/index.js";
import { runChild } from "./support/child.js";
import { SHARES_FILES } from "./support/sharing.js";
import { openStore, tempLedger } from "./support/temp-folder.js";

describe.runIf(SHARES_FILES)("several processes on one ledger", () => {
  it("create it together: one migrates, all go on", async () => {
    for (let round = 0; round < 8; round++) {
      const path = tempLedger();
      const moment = String(Date.now() + 400);
      const children = await Promise.all(
        Array.from({ length: 6 }, (_, child) => runChild("count.mjs", [path, `child-${child}`, "5", moment])),
      );
      expect(children).toEqual(Array(6).fill({ code: 0, stdout: "5\n", stderr: "" }));
      const store = sqliteStore(path);
      expect(await countIn(store)).toBe(30);
      await store.close();
    }
  });

  it("P22: count every outcome exactly once, although each is sent twice", async () => {
    const path = tempLedger();
    const children = await Promise.all(
      ["even", "odd", "even", "odd"].map((prefix) => runChild("count.mjs", [path, prefix, "300"])),
    );
    expect(children.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(4).fill({ code: 0, stderr: "" }));
    expect(children.reduce((sum, { stdout }) => sum + Number(stdout), 0)).toBe(600);
    const store = openStore(path);
    expect(await countIn(store)).toBe(600);
    const entries = await store.readEntries("n", { limit: 1_000 });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 600 }, (_, i) => i + 1));
  });
});

describe("a program that opens a store", () => {
  it("keeps, copies and erases under Node's permission model, which has no fsync", async () => {
    const [path, copy] = [tempLedger(), tempLedger()];
    const flags = ["--permission", "--allow-fs-read=*", "--allow-fs-write=*", "--no-warnings"];
    const done = { code: 0, stdout: "0 1\n", stderr: "" };
    expect(await runChild("keep-copy-erase.mjs", [path, copy], flags)).toEqual(done);
  });

  it("hears nothing from it on its standard error", async () => {
    expect(await runChild("count.mjs", [tempLedger(), "quiet", "1"])).toEqual({ code: 0, stdout: "1\n", stderr: "" });
  });
});
