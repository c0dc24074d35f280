import { chmodSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { counting, tally } from "../../core/test/support/counting.js";
import { sqliteStore } from "../src/index.js";
import { frozenFile } from "../src/ledger-files.js";
import { runChild } from "./support/child.js";
import { refusalOf } from "./support/refusal.js";
import { newLedger, tempFolder, tempLedger } from "./support/temp-folder.js";

/** A ledger that was closed. */
async function closedLedger(): Promise<string> {
  const { path, store } = newLedger();
  for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
  await store.close();
  return path;
}

/** Makes a ledger and its folder writable for root alone until the test ends. */
function lock(path: string): void {
  for (const name of readdirSync(dirname(path))) chmodSync(join(dirname(path), name), 0o444);
  chmodSync(dirname(path), 0o555);
  onTestFinished(() => chmodSync(dirname(path), 0o755));
}

describe("a ledger in a place that cannot be written", () => {
  it("is read, verified and restored from when it was closed", async () => {
    const [path, out] = [await closedLedger(), tempFolder()];
    chmodSync(out, 0o777);
    lock(path);
    const { stdout, stderr } = await runChild("read-as-nobody.mjs", [path, join(out, "restored.db")]);
    expect(stderr).toBe("");
    const whole = { head: 2, damaged: 0 };
    expect(JSON.parse(stdout)).toEqual({ read: whole, restored: whole });
    expect(readdirSync(dirname(path))).toEqual(["ledger.db", "ledger.db-mark"]);
  });

  it("is not read on when somebody writes to it after all: it is read without locks", async () => {
    const path = await closedLedger();
    const assertFrozen = frozenFile(path);
    assertFrozen();
    const writer = sqliteStore(path);
    await writer.commit("n", [tally("c")], counting);
    // Still in the log.
    expect(refusalOf(assertFrozen)).toMatchObject({ code: "STORE_UNAVAILABLE", details: { path } });
    await writer.close();
    // In the file.
    expect(refusalOf(assertFrozen)).toMatchObject({ code: "STORE_UNAVAILABLE" });
    frozenFile(path)();
  });

  it("is refused when its log is there: what it holds would be missing", async () => {
    const [path, out] = [await closedLedger(), tempFolder()];
    chmodSync(out, 0o777);
    writeFileSync(`${path}-wal`, "a log");
    lock(path);
    const { stdout } = await runChild("read-as-nobody.mjs", [path, join(out, "restored.db")]);
    expect(JSON.parse(stdout)).toEqual({ code: "STORE_UNWRITABLE", message: expect.stringContaining(path) });
  });
});

it("a ledger in a folder that must not be entered is not called missing", async () => {
  const path = await closedLedger();
  chmodSync(dirname(path), 0o700);
  const { stdout } = await runChild("read-as-nobody.mjs", [path, tempLedger()]);
  const { code, message } = JSON.parse(stdout);
  // An ordinary user may enter a folder of their own.
  if (process.getuid?.() !== 0) expect(message).toBeUndefined();
  else
    expect({ code, message }).toEqual({
      code: "STORE_UNWRITABLE",
      message: expect.stringContaining("cannot be reached"),
    });
});

it("an empty file in place of a ledger is a loss, also when it is opened read-only", async () => {
  const path = await closedLedger();
  truncateSync(path);
  const refused = refusalOf(() => sqliteStore({ path, readOnly: true }));
  expect(refused).toMatchObject({ code: "STORE_CORRUPT", details: { lost: 2 } });
});
