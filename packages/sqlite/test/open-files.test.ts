import { copyFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createEngine } from "@qavr/core";
import { withOutbox } from "@qavr/core/store";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { restoreBackup, sqliteOutbox, sqliteStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";
import { newLedger, openStore, tempFolder, tempLedger } from "./support/temp-folder.js";

/** Deletes a ledger, as `rm ledger.db*` does. */
function remove(path: string): void {
  for (const name of readdirSync(dirname(path))) rmSync(join(dirname(path), name));
}

const gone = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("deleted or replaced") };

// Windows does not let go of files that are open.
describe.skipIf(process.platform === "win32")("a ledger whose files change hands while it is open", () => {
  it("acknowledges nothing after it was deleted, also when another one was made in its place", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    remove(path);
    await expect(store.commit("n", [tally("b")], counting)).rejects.toMatchObject({ ...gone, details: { file: path } });
    const other = openStore(path);
    await other.commit("n", [tally("c")], counting);
    await expect(store.commit("n", [tally("b")], counting)).rejects.toMatchObject(gone);
    await expect(store.eraseNamespace("n")).rejects.toMatchObject(gone);
    await store.close();
    expect((await other.readEntries("n", { limit: 10 })).map(({ key }) => key)).toEqual(["c"]);
    expect(await other.verify()).toMatchObject({ damaged: 0 });
  });

  it("acknowledges nothing while its file or its log is away, and goes on when it is back", async () => {
    for (const suffix of ["", "-wal"]) {
      const [path, away] = [tempLedger(), join(tempFolder(), "away")];
      const store = sqliteStore(path);
      await store.commit("n", [tally("a")], counting);
      renameSync(`${path}${suffix}`, away);
      copyFileSync(away, `${path}${suffix}`);
      const refused = store.commit("n", [tally("b")], counting);
      await expect(refused).rejects.toMatchObject({ ...gone, details: { file: `${path}${suffix}` } });
      renameSync(away, `${path}${suffix}`);
      expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
      expect(await countIn(store)).toBe(2);
      await store.close();
    }
  });

  it("is not read on by one that only reads: it would show the old ledger for ever", async () => {
    const [path, backup] = [tempLedger(), join(tempFolder(), "backup.db")];
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    await store.backup(backup);
    const reader = sqliteStore({ path, readOnly: true });
    await store.commit("n", [tally("b")], counting);
    expect(await countIn(reader)).toBe(2);
    await store.close();
    remove(path);
    await expect(countIn(reader)).rejects.toMatchObject({ ...gone, details: { path } });
    await restoreBackup(backup, path);
    await expect(countIn(reader)).rejects.toMatchObject(gone);
    await reader.close();
    const again = openStore({ path, readOnly: true });
    expect(await countIn(again)).toBe(1);
  });

  it("lets its engine keep outcomes in the outbox, until the ledger is opened again", async () => {
    const [path, outbox] = [tempLedger(), tempLedger()];
    const request = { candidates: [{ id: "a", similarity: 1 }], topK: 1 };
    const first = createEngine({ store: withOutbox(sqliteStore(path), sqliteOutbox(outbox)) });
    const before = await first.rank(request);
    remove(path);
    expect(await first.end(before.episode, { reward: true })).toMatchObject({ status: "queued" });
    await first.close();
    const second = closing(createEngine({ store: withOutbox(sqliteStore(path), sqliteOutbox(outbox)) }));
    await second.flush();
    expect(await second.status()).toMatchObject({ outcomes: { user: 1 } });
  });

  it("is an outbox's affair as well: it acknowledges nothing that it does not keep", async () => {
    const path = tempLedger();
    const outbox = closing(sqliteOutbox(path));
    remove(path);
    await expect(outbox.append({ namespace: "n", entries: [tally("a")] })).rejects.toMatchObject(gone);
  });
});

describe("a log without its ledger", () => {
  it.each([
    ["where the file is gone", undefined],
    ["where there is nothing in the file", ""],
  ])("is not deleted by a new one, %s: it holds outcomes that were acknowledged", async (_where, left) => {
    const [path, away] = [tempLedger(), join(tempFolder(), "ledger.db")];
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    // As a process that was killed leaves it.
    for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${away}${suffix}`);
    await store.close();
    renameSync(away, path);
    if (left !== undefined) writeFileSync(away, left);
    expect(refusalOf(() => sqliteStore({ path: away, readOnly: true }))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(restoreBackup(away, tempLedger())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(refusalOf(() => sqliteStore(away))).toMatchObject({
      code: "STORE_UNWRITABLE",
      details: { path: away, left: [`${away}-wal`] },
    });
    renameSync(path, away);
    const opened = openStore(away);
    expect(await countIn(opened)).toBe(1);
  });
});
