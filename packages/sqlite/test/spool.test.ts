import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createEngine, memoryStore, nameToBytes, type Spool, type Store } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { entryChecksum } from "../src/entry-checksum.js";
import { sqliteSpool, sqliteStore } from "../src/index.js";
import { migrate } from "../src/schema.js";
import { SPOOL } from "../src/spool-tables.js";
import { tally } from "./support/counting.js";
import { refusalOf } from "./support/refusal.js";
import { SHARES_FILES } from "./support/sharing.js";
import { tamper } from "./support/tamper.js";
import { tempLedger } from "./support/temp-folder.js";

const commit = (key: string, namespace = "n") => ({ namespace, entries: [tally(key), tally(`${key}'`)] });

async function keysIn(spool: Spool): Promise<string[]> {
  return (await spool.read({ limit: 1_000 })).flatMap(({ entries }) => entries.map(({ key }) => key));
}

describe("sqliteSpool", () => {
  it("keeps commits in order, whole, and over the end of its process", async () => {
    const path = tempLedger();
    const spool = sqliteSpool(path);
    await Promise.all([spool.append(commit("a", "x\0y")), spool.append(commit("b")), spool.append(commit("c"))]);
    await spool.close();
    const reopened = sqliteSpool({ path });
    expect(await reopened.size()).toBe(3);
    const [first, second] = await reopened.read({ limit: 2 });
    expect(first).toEqual({ id: first?.id, ...commit("a", "x\0y") });
    expect(await reopened.read({ after: second?.id as number, limit: 2 })).toMatchObject([commit("c")]);
    await reopened.close();
  });

  it("gives the number of a commit that has left to no other", async () => {
    const spool = sqliteSpool(tempLedger());
    await spool.append(commit("a"));
    const id = (await spool.read({ limit: 1 }))[0]?.id as number;
    await spool.remove([id]);
    await spool.remove([]);
    expect(await spool.size()).toBe(0);
    await spool.append(commit("b"));
    expect((await spool.read({ limit: 1 }))[0]?.id).toBeGreaterThan(id);
    await spool.close();
  });

  it.each([
    { title: "commits", options: { maxCommits: 2 } },
    { title: "bytes", options: { maxBytes: 15 } },
  ])("refuses what goes beyond its $title, and keeps the rest", async ({ options }) => {
    const spool = sqliteSpool({ path: tempLedger(), ...options });
    const settled = await Promise.allSettled(["a", "b", "c"].map((key) => spool.append(commit(key))));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(settled[2]).toMatchObject({ reason: { code: "SPOOL_FULL", details: { waiting: 2 } } });
    expect(await keysIn(spool)).toEqual(["a", "a'", "b", "b'"]);
    await spool.close();
  });

  it("refuses wrong options, entries that no store would take, and calls after its end", async () => {
    for (const wrong of [{ maxCommits: 0 }, { maxBytes: 1.5 }, { maxCommit: 1 }, { maxCommits: 5n as never }]) {
      expect(refusalOf(() => sqliteSpool({ path: tempLedger(), ...wrong })).code).toBe("INVALID_ARGUMENT");
    }
    const spool = sqliteSpool({ path: tempLedger(), maxCommits: undefined as unknown as number });
    await expect(spool.append(commit("a", ""))).rejects.toMatchObject({ code: "INVALID_ID" });
    await spool.close();
    await spool.close();
    await expect(spool.size()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("is no ledger, and a ledger is no spool", async () => {
    const [ledger, spool] = [tempLedger(), tempLedger()];
    await sqliteStore(ledger).close();
    await sqliteSpool(spool).close();
    expect(refusalOf(() => sqliteSpool(ledger))).toMatchObject({ code: "STORE_FOREIGN" });
    expect(refusalOf(() => sqliteStore(spool))).toMatchObject({ code: "STORE_FOREIGN" });
  });

  it("that lacks a table is refused, and let go of", async () => {
    const path = tempLedger();
    await sqliteSpool(path).close();
    tamper(path, "DROP TABLE waiting_entry");
    expect(refusalOf(() => sqliteSpool(path))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(path),
    });
    // The last connection takes the log with it.
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it.each([
    ["a payload", "UPDATE waiting_entry SET payload = x'00' WHERE waiting = 2 AND place = 1", "n"],
    ["a namespace that is no text", "UPDATE waiting SET namespace = x'ff' WHERE id = 2", ""],
    ["another namespace", "UPDATE waiting SET namespace = x'6d' WHERE id = 2", "m"],
    ["an entry that is gone", "DELETE FROM waiting_entry WHERE waiting = 2 AND place = 0", "n"],
  ])("does not hand out what was damaged, %s, and hands out what comes after it", async (_what, sql, namespace) => {
    const path = tempLedger();
    const spool = sqliteSpool(path);
    for (const key of ["a", "b", "c"]) await spool.append(commit(key));
    await spool.close();
    tamper(path, sql);
    const damaged = sqliteSpool(path);
    expect(await damaged.read({ limit: 10 })).toEqual([
      { id: 1, ...commit("a") },
      { id: 2, namespace, entries: [], damage: expect.stringContaining("commit 2") },
      { id: 3, ...commit("c") },
    ]);
    expect(await damaged.size()).toBe(3);
    await damaged.close();
  });

  it("of the first schema is brought to the newest when it is opened, with what waits in it", async () => {
    const path = tempLedger();
    const db = new DatabaseSync(path);
    migrate(db, path, { ...SPOOL, migrations: SPOOL.migrations.slice(0, 1) });
    const addEntry = db.prepare("INSERT INTO waiting_entry VALUES (?, 0, ?, ?, ?, ?, ?)");
    for (const [i, key] of ["a", "b"].entries()) {
      const { type, at, payload } = tally(key);
      const row = { seq: 0, key: nameToBytes(key), type: nameToBytes(type), at, payload };
      db.prepare("INSERT INTO waiting (namespace, bytes) VALUES (?, ?)").run(nameToBytes("n"), 2 * key.length);
      // The second one is damaged, and stays so.
      addEntry.run(i + 1, row.key, row.type, at, payload, entryChecksum(row) + i);
    }
    db.close();
    const spool = sqliteSpool(path);
    expect(await spool.read({ limit: 10 })).toMatchObject([
      { id: 1, namespace: "n", entries: [tally("a")] },
      { id: 2, damage: expect.stringContaining("commit 2") },
    ]);
    await spool.close();
  });

  it("keeps entries of any finite time", async () => {
    const spool = sqliteSpool(tempLedger());
    const times = [-0, 5e-324, -1e308, 2 ** 53, -1.5];
    await spool.append({ namespace: "n", entries: times.map((at, i) => ({ ...tally(`k${i}`), at })) });
    const [commit] = await spool.read({ limit: 1 });
    expect(commit?.entries.map(({ at }) => at)).toEqual(times.map((at) => at + 0));
    await spool.close();
  });

  it.runIf(SHARES_FILES)("may be shared by two engines, and what both pass on counts once", async () => {
    const path = tempLedger();
    const inner = memoryStore();
    let reachable = false;
    const store: Store = {
      ...inner,
      commit: async (...call) => {
        if (!reachable) throw new Error("connection refused");
        return inner.commit(...call);
      },
      close: async () => undefined,
    };
    let now = 1_767_225_600_000;
    const engines = [0, 1].map(() => createEngine({ store, spool: sqliteSpool(path), clock: () => now }));
    for (const engine of engines) {
      for (let run = 0; run < 5; run++) {
        const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
        expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "spooled" });
      }
    }
    reachable = true;
    now += 10_000;
    await Promise.all(engines.map((engine) => engine.flush()));
    expect(await engines[0]?.status()).toMatchObject({ outcomes: { user: 10 }, seq: 20 });
    for (const engine of engines) await engine.close();
    const emptied = sqliteSpool(path);
    expect(await emptied.size()).toBe(0);
    await emptied.close();
  });
});
