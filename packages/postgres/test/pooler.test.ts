import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { refusalOf } from "./support/refusal.js";
import { openStore, testServer } from "./support/server.js";
import { type StrictPooler, strictPooler } from "./support/strict-pooler.js";

const server = await testServer();

describe("a store behind a pooler that refuses settings", () => {
  let pooler: StrictPooler;
  beforeAll(async () => {
    pooler = await strictPooler(server.port);
  });
  afterAll(() => pooler.close());
  const open = (schema: string) =>
    openStore({ connectionString: pooler.url(server.url()), schema, prepare: false, lockTimeout: 300 });

  it("works by its URL, for many callers from the first one on", async () => {
    const store = open(server.schema());
    const keys = ["a", "b", "c", "d"];
    await Promise.all(keys.map((key) => store.commit(`n-${key}`, [tally(key)], counting)));
    expect(await Promise.all(keys.map((key) => countIn(store, `n-${key}`)))).toEqual([1, 1, 1, 1]);
    expect(await store.verify()).toMatchObject({ namespaces: 4, damaged: 0, entries: 4 });
  });

  it("has its limits in every transaction, reads included", async () => {
    const schema = server.schema();
    const store = open(schema);
    await store.commit("n", [tally("a")], counting);
    const blocker = new Client(server.url());
    await blocker.connect();
    await blocker.query(`begin; lock table ${schema}.namespace in access exclusive mode`);
    const busy = { code: "STORE_BUSY", details: { sqlState: "55P03" } };
    expect(await refusalOf(store.head("n"))).toMatchObject(busy);
    expect(await refusalOf(store.commit("n", [tally("b")], counting))).toMatchObject(busy);
    await blocker.end();
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
  });

  it("leaves no setting behind in a session that others get next, also when it builds indexes again", async () => {
    const store = open(server.schema());
    await store.commit("n", [tally("a")], counting);
    await store.repair();
    await store.close();
    expect(pooler.sent()).toMatch(/reindex table "test_\d+"\."entry_15"/);
    // Its last argument makes it one of the transaction alone.
    const sent = pooler.sent().replaceAll(/set_config\('lock_timeout', '\d+', true\)/g, "");
    const settings = [...sent.matchAll(/(.{10})(?:statement|lock|session)_timeout/g)].map(([, before]) => before);
    expect(new Set(settings.map((before) => before?.slice(-10)))).toEqual(new Set(["set local ", "ansaction_"]));
  });
});
