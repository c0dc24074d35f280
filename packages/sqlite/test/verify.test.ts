import { createEngine, type Engine, QavrError } from "@qavr/core";
import { repair, replay, verify } from "@qavr/core/maintenance";
import type { StateWrite } from "@qavr/core/store";
import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { countIn, counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { sqliteStore } from "../src/index.js";
import { learnedLedger } from "./support/learned-ledger.js";
import { brokenFrom, tamper } from "./support/tamper.js";
import { newLedger, openStore, tempLedger } from "./support/temp-folder.js";

/** A ledger of five entries, the first two of them compacted away, that was tampered with. */
async function tampered(sql: string, states: readonly StateWrite[] = []): Promise<string> {
  const { path, store } = newLedger();
  for (let i = 0; i < 5; i++) await store.commit("n", [tally(`k${i}`)], counting);
  const checkpoint = { seq: 2, states: [{ ...NO_COUNT, value: Uint8Array.of(50) }] };
  await writeStates(store, "n", [NO_COUNT, ...states], checkpoint);
  await store.close();
  tamper(path, sql);
  return path;
}

describe("verify", () => {
  it("finds an untouched ledger in order, and gives two with the same entries the same digest", async () => {
    const [one, two] = [openStore(tempLedger()), openStore(":memory:")];
    for (const store of [one, two]) {
      await store.commit("n", [tally("a"), tally("b")], counting);
      await store.commit("m", [tally("a")], counting);
    }
    const check = await one.verify();
    expect(check).toEqual({
      namespaces: 2,
      entries: 3,
      digest: expect.stringMatching(/^[0-9a-f]{32}$/),
      damaged: 0,
      damage: [],
    });
    expect(await two.verify()).toEqual(check);
    const [n, m] = [await one.verify("n"), await one.verify("m")];
    expect(new Set([check.digest, n.digest, m.digest]).size).toBe(3);
    await two.commit("n", [tally("c")], counting);
    expect((await two.verify()).digest).not.toBe(check.digest);
    expect((await two.verify("m")).digest).toBe(m.digest);
  });

  it.each([
    ["an entry that is gone", "DELETE FROM entry WHERE seq = 4", /place 5/, 4],
    ["the last entry gone", "DELETE FROM entry WHERE seq = 5", /ends before its head/, 5],
    [
      "the last entry gone with its place",
      "DELETE FROM entry WHERE seq = 5; UPDATE namespace SET head = 4",
      /last entry is not/,
      5,
    ],
    [
      "two entries that changed places",
      "UPDATE entry SET seq = 9 WHERE seq = 3; UPDATE entry SET seq = 3 WHERE seq = 4; UPDATE entry SET seq = 4 WHERE seq = 9",
      /digest/,
      3,
    ],
    ["another time", "UPDATE entry SET at = at + 1 WHERE seq = 4", /digest/, 4],
    ["another key", "UPDATE entry SET key = x'61' WHERE seq = 4", /digest/, 4],
    ["another type", "UPDATE entry SET type = x'61' WHERE seq = 4", /digest/, 4],
    ["another name", "UPDATE namespace SET name = x'61'", /states of the checkpoint|compacted entry|digest/, undefined],
    ["another state in the checkpoint", "UPDATE checkpoint_state SET value = x'00'", /checkpoint/, 2],
    ["no state in the checkpoint", "DELETE FROM checkpoint_state", /checkpoint/, 2],
    ["a compacted key that is gone", "DELETE FROM compacted_key WHERE seq = 2", /1 keys/, undefined],
    [
      "another compacted payload",
      "UPDATE compacted_key SET payload_digest = x'00' WHERE seq = 2",
      /key of a compacted/,
      2,
    ],
  ])("finds %s", async (_what, sql, problem, seq) => {
    const store = openStore(await tampered(sql));
    const check = await store.verify();
    expect(check.damaged).toBeGreaterThan(0);
    expect(check.damage[0]?.problem).toMatch(problem);
    if (seq !== undefined) expect(check.damage[0]).toMatchObject({ namespace: "n", seq });
    expect((await store.verify(check.damage[0]?.namespace)).damaged).toBe(check.damaged);
  });

  it.each([
    ["a namespace", "DELETE FROM namespace", /^3 rows of table entry belong to a namespace/, 4],
    ["a scope", "DELETE FROM scope", /^1 rows of table state belong to a scope/, 1],
    ["an entry's namespace", "UPDATE entry SET namespace = 1 << 60 WHERE seq = 5", /^1 rows of table entry/, 2],
    ["a compacted key's", "UPDATE compacted_key SET namespace = 7 WHERE seq = 1", /^1 rows of table compacted_key/, 2],
    ["a checkpoint's", "UPDATE checkpoint_state SET namespace = 7", /^1 rows of table checkpoint_state/, 2],
  ])("finds what belongs to nothing: without %s", async (_what, sql, problem, damaged) => {
    const store = openStore(await tampered(sql, [{ scope: "stats", id: "count", value: Uint8Array.of(53) }]));
    const check = await store.verify();
    expect(check.damaged).toBe(damaged);
    expect(check.damage[0]?.problem).toMatch(problem);
  });

  it("does not give to a new namespace or scope what belonged to one that is gone", async () => {
    const { path, store } = newLedger();
    for (const name of ["a", "b"]) for (const key of ["k", "l"]) await store.commit(name, [tally(key)], counting);
    await store.close();
    tamper(path, "DELETE FROM namespace WHERE name = x'62'; UPDATE entry SET namespace = 1 << 60 WHERE id = 1");
    const opened = sqliteStore(path);
    expect(await opened.commit("c", [tally("k")], counting)).toEqual([{ status: "committed", seq: 1 }]);
    expect(await countIn(opened, "c")).toBe(1);
    expect(await opened.verify("c")).toMatchObject({ entries: 1, damaged: 0 });
    await opened.close();
    tamper(path, "DELETE FROM scope WHERE id = (SELECT max(id) FROM scope)");
    const reopened = openStore(path);
    await reopened.commit("d", [tally("k")], counting);
    expect(await countIn(reopened, "d")).toBe(1);
  });

  it("does not follow a chain into a namespace of another name", async () => {
    const { path, store } = newLedger();
    await store.commit("n", [tally("a")], counting);
    await store.close();
    tamper(path, "UPDATE namespace SET name = x'6d'");
    const renamed = openStore(path);
    expect((await renamed.verify()).damage).toMatchObject([
      { namespace: "m", problem: expect.stringContaining("first digest") },
    ]);
  });

  it("counts the entries before one that cannot be read", async () => {
    const store = sqliteStore(await tampered("UPDATE entry SET seq = 1 << 60 WHERE seq = 5"));
    expect(await store.verify("n")).toMatchObject({ entries: 2, damaged: 1 });
    await store.close();
  });

  it("reports a file that SQLite cannot read through, instead of throwing", async () => {
    const damaged = openStore(await brokenFrom(4096 * 8));
    const check = await damaged.verify();
    expect(check.damaged).toBeGreaterThan(0);
    expect(check.damage.length).toBeLessThanOrEqual(100);
  });
});

/** An engine on a ledger of twenty runs that was tampered with. */
async function learnedAndTampered(sql: string): Promise<Engine> {
  const path = tempLedger();
  await learnedLedger(path, 20);
  tamper(path, sql);
  return closing(createEngine({ store: sqliteStore(path) }));
}

describe("repair", () => {
  it("builds states and indexes again from an undamaged ledger", async () => {
    const engine = await learnedAndTampered(
      "UPDATE state SET value = zeroblob(length(value)) WHERE rowid % 3 = 0; DELETE FROM state WHERE rowid % 7 = 0",
    );
    expect(await verify(engine)).toMatchObject({
      ok: false,
      damaged: 0,
      differing: [{ namespace: "default" }, { namespace: "tenant" }],
    });
    expect(await repair(engine)).toMatchObject({ rebuilt: ["default", "tenant"], after: { ok: true } });
  });

  it("builds again a state without bytes whose checksum is wrong", async () => {
    // A band lists its memories by states of no bytes: only the checksum is left.
    const engine = await learnedAndTampered(
      "UPDATE state SET value = x'00000000' WHERE rowid IN (SELECT rowid FROM state WHERE length(value) = 4 LIMIT 1)",
    );
    const { ok, differing } = await verify(engine);
    expect([ok, differing.length]).toEqual([false, 1]);
    expect(await repair(engine)).toMatchObject({ rebuilt: [differing[0]?.namespace], after: { ok: true } });
  });

  it("builds again what a scope that is gone held, and leaves nothing of it behind", async () => {
    const engine = await learnedAndTampered(
      "DELETE FROM scope WHERE id IN (SELECT scope FROM state GROUP BY scope ORDER BY count(*) DESC LIMIT 2)",
    );
    expect(await verify(engine)).toMatchObject({ ok: false, damaged: 2 });
    expect(await repair(engine)).toMatchObject({ after: { ok: true, damaged: 0 } });
  });

  it.each([
    ["that is damaged", "UPDATE entry SET payload = zeroblob(length(payload)) WHERE seq = 7 AND namespace = 1"],
    ["whose last entries are gone", "DELETE FROM entry WHERE seq >= 7 AND namespace = 1"],
  ])("leaves a ledger alone %s, and says so", async (_, damage) => {
    const engine = await learnedAndTampered(damage);
    expect(await repair(engine)).toMatchObject({
      rebuilt: [],
      after: {
        ok: false,
        damaged: 1,
        damage: [{ namespace: "default", seq: 7 }],
        unchecked: [{ namespace: "default", reason: "STORE_CORRUPT" }],
      },
    });
    expect(
      QavrError.isInstance(await replay(engine, { write: true }).catch((error: unknown) => error), "STORE_CORRUPT"),
    ).toBe(true);
  });
});
