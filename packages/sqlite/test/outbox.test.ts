import { existsSync, readFileSync } from "node:fs";
import { createEngine, memoryStore, type Store } from "@qavr/core";
import type { Outbox } from "@qavr/core/store";
import { withOutbox } from "@qavr/core/store";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { tally } from "../../core/test/support/counting.js";
import { sqliteOutbox, sqliteStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";
import { SHARES_FILES } from "./support/sharing.js";
import { tamper } from "./support/tamper.js";
import { tempLedger } from "./support/temp-folder.js";

const commit = (key: string, namespace = "n") => ({ namespace, entries: [tally(key), tally(`${key}'`)] });

async function keysIn(outbox: Outbox): Promise<string[]> {
  return (await outbox.read({ limit: 1_000 })).flatMap(({ entries }) => entries.map(({ key }) => key));
}

describe("sqliteOutbox", () => {
  it("keeps commits in order, whole, and over the end of its process", async () => {
    const path = tempLedger();
    const outbox = sqliteOutbox(path);
    await Promise.all([outbox.append(commit("a", "x\0y")), outbox.append(commit("b")), outbox.append(commit("c"))]);
    await outbox.close();
    const reopened = closing(sqliteOutbox({ path }));
    expect(await reopened.size()).toBe(3);
    const [first, second] = await reopened.read({ limit: 2 });
    expect(first).toEqual({ id: first?.id, ...commit("a", "x\0y") });
    expect(await reopened.read({ after: second?.id as number, limit: 2 })).toMatchObject([commit("c")]);
  });

  it("gives the number of a commit that has left to no other", async () => {
    const outbox = closing(sqliteOutbox(tempLedger()));
    await outbox.append(commit("a"));
    const id = (await outbox.read({ limit: 1 }))[0]?.id as number;
    await outbox.remove([id]);
    await outbox.remove([]);
    expect(await outbox.size()).toBe(0);
    await outbox.append(commit("b"));
    expect((await outbox.read({ limit: 1 }))[0]?.id).toBeGreaterThan(id);
  });

  it("keeps nothing of a commit that has left", async () => {
    const path = tempLedger();
    const outbox = sqliteOutbox(path);
    await outbox.append(commit("secret"));
    await outbox.remove((await outbox.read({ limit: 1 })).map(({ id }) => id));
    for (const file of [path, `${path}-wal`]) expect(readFileSync(file).includes("secret"), file).toBe(false);
    await outbox.close();
    expect(readFileSync(path).includes("secret")).toBe(false);
  });

  it.each([
    { title: "commits", options: { maxCommits: 2 } },
    { title: "bytes", options: { maxBytes: 15 } },
  ])("refuses what goes beyond its $title, and keeps the rest", async ({ options }) => {
    const outbox = closing(sqliteOutbox({ path: tempLedger(), ...options }));
    const settled = await Promise.allSettled(["a", "b", "c"].map((key) => outbox.append(commit(key))));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(settled[2]).toMatchObject({ reason: { code: "OUTBOX_FULL", details: { waiting: 2 } } });
    expect(await keysIn(outbox)).toEqual(["a", "a'", "b", "b'"]);
  });

  it("refuses wrong options, entries that no store would take, and calls after its end", async () => {
    for (const wrong of [{ maxCommits: 0 }, { maxBytes: 1.5 }, { maxCommit: 1 }, { maxCommits: 5n as never }]) {
      expect(refusalOf(() => sqliteOutbox({ path: tempLedger(), ...wrong })).code).toBe("INVALID_ARGUMENT");
    }
    const outbox = sqliteOutbox({ path: tempLedger(), maxCommits: undefined as unknown as number });
    await expect(outbox.append(commit("a", ""))).rejects.toMatchObject({ code: "INVALID_ID" });
    await outbox.close();
    await outbox.close();
    await expect(outbox.size()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("is no ledger, and a ledger is no outbox", async () => {
    const [ledger, outbox] = [tempLedger(), tempLedger()];
    await sqliteStore(ledger).close();
    await sqliteOutbox(outbox).close();
    expect(refusalOf(() => sqliteOutbox(ledger))).toMatchObject({ code: "STORE_FOREIGN" });
    expect(refusalOf(() => sqliteStore(outbox))).toMatchObject({ code: "STORE_FOREIGN" });
  });

  it("that lacks a table is refused, and let go of", async () => {
    const path = tempLedger();
    await sqliteOutbox(path).close();
    tamper(path, "DROP TABLE waiting_entry");
    expect(refusalOf(() => sqliteOutbox(path))).toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(path),
    });
    // The last connection takes the log with it.
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it.each([
    ["a payload", "UPDATE waiting_entry SET payload = x'00' WHERE waiting = 2 AND seq = 2", "n"],
    ["a namespace that is no text", "UPDATE waiting SET namespace = x'ff' WHERE id = 2", ""],
    ["another namespace", "UPDATE waiting SET namespace = x'6d' WHERE id = 2", "m"],
    ["an entry that is gone", "DELETE FROM waiting_entry WHERE waiting = 2 AND seq = 1", "n"],
  ])("does not hand out what was damaged, %s, and hands out what comes after it", async (_what, sql, namespace) => {
    const path = tempLedger();
    const outbox = sqliteOutbox(path);
    for (const key of ["a", "b", "c"]) await outbox.append(commit(key));
    await outbox.close();
    tamper(path, sql);
    const damaged = closing(sqliteOutbox(path));
    expect(await damaged.read({ limit: 10 })).toEqual([
      { id: 1, ...commit("a") },
      { id: 2, namespace, entries: [], damage: expect.stringContaining("commit 2") },
      { id: 3, ...commit("c") },
    ]);
    expect(await damaged.size()).toBe(3);
  });

  it("keeps entries of any finite time", async () => {
    const outbox = closing(sqliteOutbox(tempLedger()));
    const times = [-0, 5e-324, -1e308, 2 ** 53, -1.5];
    await outbox.append({ namespace: "n", entries: times.map((at, i) => ({ ...tally(`k${i}`), at })) });
    const [commit] = await outbox.read({ limit: 1 });
    expect(commit?.entries.map(({ at }) => at)).toEqual(times.map((at) => at + 0));
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
    const engines = [0, 1].map(() => createEngine({ store: withOutbox(store, sqliteOutbox(path)), clock: () => now }));
    for (const engine of engines) {
      for (let run = 0; run < 5; run++) {
        const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
        expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "queued" });
      }
    }
    reachable = true;
    now += 10_000;
    await Promise.all(engines.map((engine) => engine.flush()));
    expect(await engines[0]?.status()).toMatchObject({ outcomes: { user: 10 }, seq: 20 });
    for (const engine of engines) await engine.close();
    const emptied = closing(sqliteOutbox(path));
    expect(await emptied.size()).toBe(0);
  });
});
