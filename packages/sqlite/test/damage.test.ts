import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createEngine, type Engine, similarity } from "@qavr/core";
import { compact, repair, replay, verify } from "@qavr/core/maintenance";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { counting, tally } from "../../core/test/support/counting.js";
import { sqliteStore } from "../src/index.js";
import { refusalOf } from "./support/refusal.js";
import { brokenFrom, tamper } from "./support/tamper.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

describe("a ledger whose bytes were damaged", () => {
  it("is not read as something else: a flipped bit in an entry is STORE_CORRUPT", async () => {
    const { path, store } = newLedger();
    const payload = new TextEncoder().encode("a payload that can be found in the file");
    await store.commit("n", [tally("fine"), { ...tally("hit"), payload }], counting);
    await store.close();
    const bytes = readFileSync(path);
    const at = bytes.indexOf(Buffer.from(payload));
    bytes[at + 3] = (bytes[at + 3] as number) ^ 0x10;
    writeFileSync(path, bytes);
    const damaged = openStore(path);
    expect(await damaged.readEntries("n", { limit: 1 })).toHaveLength(1);
    await expect(damaged.readEntries("n", { limit: 10 })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { seq: 2 },
    });
  });

  it("gives way to an older backup when the files that its error names are moved away", async () => {
    const [path, backup] = [tempLedger(), tempLedger()];
    const store = sqliteStore(path);
    await store.commit("n", [tally("a")], counting);
    await store.backup(backup);
    await store.commit("n", [tally("b")], counting);
    await store.close();
    writeFileSync(path, "damaged".repeat(1_000));
    const { code, message } = refusalOf(() => sqliteStore(path));
    expect(code).toBe("STORE_CORRUPT");
    for (const [suffix] of message.matchAll(/-(?:wal|shm|mark)\b/g)) rmSync(path + suffix, { force: true });
    copyFileSync(backup, path);
    const restored = openStore(path);
    expect(await restored.head("n")).toBe(1);
  });

  it("is not read on from an entry that is gone: the next one cannot be checked, and is the damaged one", async () => {
    const { path, store } = newLedger();
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    for (const gone of [2, 3]) {
      tamper(path, `DELETE FROM entry WHERE seq = ${gone}`);
      const damaged = sqliteStore(path);
      await expect(damaged.readEntries("n", { after: gone, limit: 10 })).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        details: { seq: gone + 1 },
      });
      await damaged.close();
    }
  });

  it("has not ended where its last entries are gone", async () => {
    const { path, store } = newLedger();
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    for (const left of [2, 0]) {
      tamper(path, `DELETE FROM entry WHERE seq > ${left}`);
      const damaged = sqliteStore(path);
      for (const after of [0, left]) {
        await expect(damaged.readEntries("n", { after, limit: 10 })).rejects.toMatchObject({
          code: "STORE_CORRUPT",
          details: { seq: left + 1 },
        });
      }
      if (left > 0) expect(await damaged.readEntries("n", { limit: left })).toHaveLength(left);
      await damaged.close();
    }
  });

  it("does not tell an honest retry of a conflict: what its payload is compared with is held against its digest", async () => {
    const { path, store } = newLedger();
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    await writeStates(store, "n", [], { seq: 2, states: [] });
    const other = { payload: Uint8Array.of(7) };
    for (const [place, key] of ["a", "b", "c", "d"].entries()) {
      const again = [tally(key), { ...tally(key), ...other }];
      const seq = place + 1;
      expect(await store.commit("n", again, counting)).toEqual([
        { status: "duplicate", seq },
        { status: "conflict", seq },
      ]);
    }
    await store.close();
    tamper(path, "UPDATE entry SET payload = x'00'; UPDATE compacted_key SET payload_digest = x'00'");
    const damaged = openStore(path);
    for (const [place, key] of ["a", "b", "c", "d"].entries()) {
      const retry = damaged.commit("n", [tally(key)], counting);
      const beside = damaged.commit("n", [tally(`new ${key}`)], counting);
      await expect(retry).rejects.toMatchObject({ code: "STORE_CORRUPT", details: { seq: place + 1 } });
      expect(await beside).toEqual([{ status: "committed", seq: place + 5 }]);
    }
  });

  it("rejects reads and commits that meet a broken page with STORE_CORRUPT", async () => {
    // Everything behind the schema's page: tables and indexes alike.
    const damaged = openStore(await brokenFrom(4096));
    await expect(damaged.readEntries("n", { limit: 10 })).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(damaged.readStates("n", "stats", ["count"])).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(damaged.head("n")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(damaged.commit("n", [tally("new")], counting)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
});

describe("a learned state whose bits have flipped", () => {
  const candidates = Array.from({ length: 6 }, (_, i) => ({ id: `m${i}`, similarity: 0.9 - i / 50 }));
  const logged: { code: string }[] = [];
  const logger = { error: (_: string, fields: { code: string }) => void logged.push(fields) };
  const engineOn = (path: string): Engine => closing(createEngine({ store: sqliteStore(path), logger }));
  const run = async (engine: Engine, reward: boolean) => {
    const { episode } = await engine.rank({ candidates, topK: 3 });
    return engine.end(episode, { reward, tier: "verified" });
  };
  const scoresOf = async (engine: Engine): Promise<unknown> => {
    const { items, degraded } = await engine.rank({ candidates, topK: 6, record: false });
    return [degraded, items.map(({ id, score }) => [id, score])];
  };

  /** A ledger that has learned, with every state of some scopes damaged. */
  async function damagedLedger(scopes: string): Promise<{ readonly path: string; readonly scores: unknown }> {
    logged.length = 0;
    const path = tempLedger();
    const engine = engineOn(path);
    for (let i = 0; i < 12; i++) await run(engine, i % 3 > 0);
    const scores = await scoresOf(engine);
    await engine.close();
    tamper(
      path,
      `UPDATE state SET value = CAST(x'7f' || substr(value, 2) AS BLOB)
       WHERE scope IN (SELECT id FROM scope WHERE CAST(name AS TEXT) LIKE '${scopes}')`,
    );
    return { path, scores };
  }

  it.each(["memory:%", "shared", "stats"])("ranks as unknown, is logged, and is built again: %s", async (scopes) => {
    const { path, scores } = await damagedLedger(scopes);
    const engine = engineOn(path);
    if (scopes !== "stats") {
      const first = await engine.rank({ candidates, topK: 6, record: false });
      expect(first.items.map(({ id }) => id)).toEqual(candidates.map(({ id }) => id));
    } else await run(engine, true);
    await engine.flush();
    expect(logged.map(({ code }) => code)).toEqual(["STATE_DAMAGED"]);
    if (scopes !== "stats") expect(await scoresOf(engine)).toEqual(scores);
    expect(await verify(engine)).toMatchObject({ ok: true });
  });

  it("is not learned on: the outcome waits for the rebuild and counts once", async () => {
    const [{ path }, twin] = [await damagedLedger("%"), tempLedger()];
    const [engine, whole] = [engineOn(path), engineOn(twin)];
    for (let i = 0; i < 12; i++) await run(whole, i % 3 > 0);
    await Promise.all([run(engine, true), run(engine, false)]);
    expect(logged.map(({ code }) => code)).toEqual(["STATE_DAMAGED"]);
    expect(await verify(engine)).toMatchObject({ ok: true, damaged: 0 });
    expect((await engine.status()).outcomes.verified).toBe(14);
  });

  it("is named by reports that need it, and never taken for a record that ends early", async () => {
    const { path } = await damagedLedger("memory:%");
    const engine = engineOn(path);
    const named = { code: "STORE_CORRUPT", details: { scope: "memory:default" } };
    for (const options of [{}, { ids: ["m0"] }, { order: "lowest" }] as const) {
      await expect(engine.memories(options)).rejects.toMatchObject(named);
    }
    await expect(engine.status()).rejects.toMatchObject(named);
  });

  it("is left to its own learner", async () => {
    const { path } = await damagedLedger("memory:%");
    const engine = createEngine({ store: sqliteStore(path), logger, learner: similarity() });
    const { episode } = await engine.rank({ candidates, topK: 3 });
    await expect(engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "LEARNER_MISMATCH" });
    await engine.close();
    const own = engineOn(path);
    expect((await verify(own)).ok).toBe(false);
    expect((await repair(own)).after.ok).toBe(true);
  });
});

describe("the row of a namespace that does not name its last entry", () => {
  async function damagedHead(sql: string): Promise<string> {
    const { path, store } = newLedger();
    for (const key of ["a", "b", "c"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    tamper(path, sql);
    return path;
  }
  const FLIPPED = [
    "UPDATE namespace SET head = head - 32768",
    "UPDATE namespace SET head = head + 256",
    "UPDATE namespace SET head = 2",
    "UPDATE namespace SET digest = CAST(x'00' || substr(digest, 2) AS BLOB)",
  ];

  it.each(FLIPPED)("appends nothing, is reported, and is repaired from the entries: %s", async (sql) => {
    const path = await damagedHead(sql);
    const store = sqliteStore(path);
    const engine = closing(createEngine({ store }));
    for (let time = 0; time < 2; time++) {
      await expect(store.commit("n", [tally("d")], counting)).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        details: { namespace: "n", last: 3 },
      });
    }
    expect(await verify(engine)).toMatchObject({ ok: false, damaged: 1 });
    await repair(engine);
    expect(await store.verify()).toMatchObject({ damaged: 0, entries: 3 });
    expect(await store.commit("n", [tally("d")], counting)).toEqual([{ status: "committed", seq: 4 }]);
  });

  it.each(["head = head - 5", "head = head + 4096"])("is a ledger that no fold can meet: %s", async (change) => {
    const path = tempLedger();
    const options = { clock: () => 1_767_225_600_000 };
    const engine = createEngine({ store: sqliteStore(path), ...options });
    for (let run = 0; run < 8; run++) {
      const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 0.5 }], topK: 1 });
      await engine.end(episode, { reward: run % 2 === 0 });
    }
    await engine.close();
    tamper(path, `UPDATE namespace SET ${change}`);
    const damaged = closing(createEngine({ store: sqliteStore(path), ...options }));
    expect(await verify(damaged)).toMatchObject({
      ok: false,
      damaged: 1,
      unchecked: [{ namespace: "default", reason: "STORE_CORRUPT" }],
    });
    await expect(replay(damaged)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(compact(damaged, { namespace: "default", olderThan: 0 })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
    });
    expect((await repair(damaged)).after.ok).toBe(true);
  });

  it.each(["DELETE FROM entry WHERE seq = 3", "DELETE FROM entry WHERE seq = 3; UPDATE namespace SET head = 2"])(
    "is not repaired where entries are missing: %s",
    async (sql) => {
      const path = await damagedHead(sql);
      const store = sqliteStore(path);
      const engine = closing(createEngine({ store }));
      const refused = await store.commit("n", [tally("d")], counting).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringMatching(/missing.+Restore a backup/),
      });
      expect(refused).not.toHaveProperty("details.last");
      expect((await repair(engine)).after).toMatchObject({ ok: false, damaged: 1 });
    },
  );
});
