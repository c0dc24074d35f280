import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createEngine, type Store } from "@qavr/core";
import type { Reduce } from "@qavr/core/store";
import { cuttingProxy } from "@qavr/postgres-server";
import { writeStates } from "@qavr/store-conformance";
import { Client, Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { countIn, counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { heldPool } from "./support/held-pool.js";
import { interceptedPool } from "./support/intercepted-pool.js";
import { ledgers } from "./support/ledgers.js";
import { openStore, testServer } from "./support/server.js";
import { SOON } from "./support/soon.js";

const server = await testServer();
const { ledger } = ledgers(server.pool, { partitions: 2 });
const connectionString = server.url();
const lagging = { mayLag: true };
const refreshed = { refreshed: true };
const idsOf = (store: Store, cursor: number): string[] | undefined =>
  store.changesSince?.("n", cursor).written?.map(({ id }) => id);

describe("a store that may be a little behind", () => {
  it("answers rankings from what it knows until its staleness is over, and everything else exactly", async () => {
    const schema = await ledger();
    const store = openStore({ connectionString, schema, staleness: 60_000, listen: false });
    const other = openStore({ connectionString, schema });
    await store.commit("n", [tally("a")], counting);
    await other.commit("n", [tally("b")], counting);
    await store.refresh?.("n", lagging);
    expect(await countIn(store, "n", lagging)).toBe(1);
    expect(await countIn(store)).toBe(2);
    expect(await countIn(store, "n", lagging)).toBe(2);
    await other.commit("n", [tally("c")], counting);
    await store.refresh?.("n");
    expect(await countIn(store, "n", lagging)).toBe(3);
  });

  it("sees its own commits at once", async () => {
    const store = openStore({ connectionString, schema: await ledger(), staleness: 60_000, listen: false });
    for (let n = 1; n <= 5; n++) {
      await store.commit("n", [tally(`k${n}`)], counting);
      expect(await countIn(store, "n", lagging)).toBe(n);
    }
    await store.eraseNamespace("n");
    expect(await countIn(store, "n", lagging)).toBe(0);
  });

  it("keeps its own commits when the answer to an earlier question comes late", async () => {
    const pool = heldPool(server.pool);
    const store = openStore({ pool, schema: await ledger(), staleness: 60_000, listen: false });
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    const written = pool.hold("with moved as", "statement");
    const answered = pool.hold("select now.revision, now.digest, found.place", "answer");
    const commit = store.commit("n", [tally("c")], counting);
    await written.isHeld;
    // Asked after the commit was asked for, answered before it was made, and heard of after its acknowledgement.
    const ranking = store.readStates("n", "stats", ["other"], lagging);
    await answered.isHeld;
    written.letGo();
    await commit;
    expect(await countIn(store, "n", lagging)).toBe(3);
    answered.letGo();
    await ranking;
    expect([await countIn(store, "n", lagging), await countIn(store, "n", refreshed)]).toEqual([3, 3]);
  });

  it("is never behind for longer than its staleness", async () => {
    const schema = await ledger();
    const store = openStore({ connectionString, schema, staleness: 40, listen: false });
    const other = openStore({ connectionString, schema });
    for (let n = 1; n <= 5; n++) {
      await other.commit("n", [tally(`k${n}`)], counting);
      await pause(60);
      await store.refresh?.("n", lagging);
      expect(await countIn(store, "n", lagging)).toBe(n);
    }
  });
});

describe("a reader that refreshes once and then reads several times", () => {
  it("is answered from what is known then, and asks for what is not", async () => {
    const schema = await ledger();
    let questions = 0;
    const counted = {
      connect: () => {
        questions += 1;
        return server.pool.connect();
      },
    };
    const store = openStore({ pool: counted, schema });
    const other = openStore({ connectionString, schema });
    await store.commit("n", [tally("a")], counting);
    await store.refresh?.("n");
    questions = 0;
    expect(await countIn(store, "n", refreshed)).toBe(1);
    expect(questions).toBe(0);
    expect(await store.readStates("n", "stats", ["other"], refreshed)).toEqual([undefined]);
    expect(questions).toBe(1);
    await other.commit("n", [tally("b")], counting);
    expect(await countIn(store)).toBe(2);
    await other.commit("n", [tally("c")], counting);
    await store.refresh?.("n");
    expect(await countIn(store, "n", refreshed)).toBe(3);
  });

  it("asks again for what its cache has no room for, after any number of outcomes", async () => {
    let questions = 0;
    const counted = {
      connect: () => {
        questions += 1;
        return server.pool.connect();
      },
    };
    const store = openStore({ pool: counted, schema: await ledger(), cacheBytes: 16 * 1024 });
    // biome-ignore lint/correctness/useYield: a reduction that needs to see nothing
    const learn: Reduce = function* ({ seq }) {
      return [{ scope: "memory:docs", id: `m${seq}`, value: new Uint8Array(1024) }];
    };
    for (let n = 1; n <= 100; n++) await store.commit("n", [tally(`k${n}`)], learn);
    await store.refresh?.("n");
    const kept: number[] = [];
    for (let n = 100; n > 0; n--) {
      questions = 0;
      await store.readStates("n", "memory:docs", [`m${n}`], refreshed);
      if (questions === 0) kept.push(n);
    }
    expect(kept).toEqual([100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88]);
  });

  it("costs an engine that is alone in a namespace four round trips per run, one of them for the ranking", async () => {
    const schema = await ledger();
    const asked: string[] = [];
    const pool = interceptedPool(server.pool, ({ text }, send) => {
      asked.push(text);
      return send();
    });
    const engine = closing(createEngine({ store: postgresStore({ pool, schema }), readTimeout: 10_000 }));
    const rank = async (): Promise<string> => {
      await engine.fetchSize({ topK: 1 });
      const candidates = ["a", "b"].map((id, place) => ({ id, similarity: 0.9 - 0.1 * place }));
      return (await engine.rank({ candidates, vector: [1, 2, 3], topK: 1 })).episode;
    };
    for (let run = 0; run < 3; run++) await engine.end(await rank(), { reward: true });
    asked.length = 0;
    const episode = await rank();
    expect(asked).toHaveLength(1);
    await engine.end(episode, { reward: true });
    expect(asked).toHaveLength(4);
  });
});

describe("stores that listen to each other", () => {
  const open = (schema: string, staleness: number): Store =>
    openStore({ connectionString, schema, staleness, listen: true });

  it("hear that others have changed a namespace, and ask what it is now", async () => {
    const schema = await ledger();
    const [store, other] = [open(schema, 600_000), open(schema, 600_000)];
    await other.commit("n", [tally("a")], counting);
    await countIn(store);
    await listening(2);
    await heard(store, () => other.commit("n", [tally("b")], counting), 2);
    await heard(store, () => writeStates(other, "n", [NO_COUNT]), 0);
    await heard(store, () => other.eraseNamespace("n"), 0);
  });

  it("hear also of what was found to be done already, after its answer was lost", async () => {
    const schema = await ledger();
    const proxy = closing(await cuttingProxy(server.port));
    const [store, behind] = [open(schema, 600_000), { connectionString: proxy.url(connectionString), prepare: false }];
    const other = openStore({ ...behind, schema, staleness: 600_000, listen: true });
    await other.commit("n", [tally("a")], counting);
    await countIn(store);
    await listening(2);
    const cut = (act: () => Promise<unknown>) => () => {
      proxy.cut("commit\0", "answered");
      return act();
    };
    await heard(
      store,
      cut(() => writeStates(other, "n", [NO_COUNT], { seq: 1, states: [] })),
      0,
    );
    await heard(
      store,
      cut(() => other.eraseNamespace("n")),
      0,
    );
    expect(proxy.cuts).toBe(2);
  });

  it("take nothing from what a login without any right announces", async () => {
    const schema = await ledger();
    const [store, other] = [open(schema, 600_000), open(schema, 600_000)];
    const silent = openStore({ connectionString, schema });
    await other.commit("n", [tally("a")], counting);
    expect(await countIn(store)).toBe(1);
    await listening(2);
    await server.pool.query("create role stranger login password 'secret'");
    const stranger = new Client(server.url({ user: "stranger", password: "secret" }));
    await stranger.connect();
    const channel = `qavr_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
    const { rows } = await server.pool.query(`select revision from ${schema}.namespace`);
    const before = Number(rows[0].revision);
    const cursor = store.changesSince?.("n", 0).cursor as number;
    // Payloads of a store, in today's form and in an earlier one: one more change, and a change of nothing.
    for (const forged of [
      ["x", "n", before, before + 1, []],
      ["x", "n", before + 1, []],
    ]) {
      await stranger.query("select pg_notify($1, $2)", [channel, JSON.stringify(forged)]);
    }
    await expect.poll(() => idsOf(store, cursor), SOON).toBeUndefined();
    await silent.commit("n", [tally("b")], counting);
    expect([await countIn(store), await countIn(other)]).toEqual([2, 2]);
    await store.commit("n", [tally("c")], counting);
    expect(await countIn(silent)).toBe(3);
    await stranger.end();
  });

  it("listen again after their connection was lost", async () => {
    const schema = await ledger();
    const [store, other] = [open(schema, 600_000), open(schema, 600_000)];
    await other.commit("n", [tally("a")], counting);
    await countIn(store);
    await listening(2);
    await server.pool.query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'");
    await pause(100);
    await listening(2);
    const cursor = store.changesSince?.("n", 0).cursor as number;
    await other.commit("n", [tally("b")], counting);
    await expect.poll(() => idsOf(store, cursor), SOON).toBeUndefined();
  });

  /** Expects that a store forgets what it has cached when another one acts, and finds that count then. */
  async function heard(store: Store, act: () => Promise<unknown>, count: number): Promise<void> {
    const cursor = store.changesSince?.("n", 0).cursor as number;
    expect(idsOf(store, cursor)).toEqual([]);
    await act();
    await expect.poll(() => idsOf(store, cursor), SOON).toBeUndefined();
    expect(await countIn(store, "n", lagging)).toBe(count);
  }

  /** Waits until so many connections listen, on whatever channel: tests of this file run one after the other. */
  async function listening(count: number): Promise<void> {
    const query = "select 1 from pg_stat_activity where query like 'listen %'";
    await expect.poll(async () => (await server.pool.query(query)).rowCount, SOON).toBe(count);
  }
});

describe("a store with a replica", () => {
  let replica: Awaited<ReturnType<typeof server.startReplica>>;
  let pool: Pool;
  let reads = 0;
  beforeAll(async () => {
    replica = await server.startReplica();
    pool = new Pool({ connectionString: replica.url(), max: 4 });
  });
  afterAll(async () => {
    await pool.end();
    await replica.stop();
  });
  const counted = {
    connect: () => {
      reads += 1;
      return pool.connect();
    },
  };
  const replayed = (): Promise<unknown> =>
    expect
      .poll(async () => {
        const { rows } = await server.pool.query("select pg_current_wal_lsn() as lsn");
        return (await pool.query("select pg_last_wal_replay_lsn() >= $1 as there", [rows[0].lsn])).rows[0].there;
      }, SOON)
      .toBe(true);

  it("reads states for rankings there, and nothing else", async () => {
    const schema = await ledger();
    const writer = openStore({ connectionString, schema });
    await writer.commit("n", [tally("a")], counting);
    await replayed();
    reads = 0;
    const store = openStore({ connectionString, schema, staleness: 60_000, listen: false, replica: counted });
    expect(await countIn(store)).toBe(1);
    expect(reads).toBe(0);
    const [absent] = await store.readStates("n", "stats", ["other"], lagging);
    expect([absent, reads]).toEqual([undefined, 1]);
  });

  it("passes the replica over while that is behind what is known, and when it is gone", async () => {
    const schema = await ledger();
    const store = openStore({
      connectionString,
      schema,
      staleness: 60_000,
      listen: false,
      replica: counted,
      cacheBytes: 0,
    });
    await store.commit("n", [tally("a")], counting);
    await replayed();
    await pool.query("select pg_wal_replay_pause()");
    await store.commit("n", [tally("b")], counting);
    reads = 0;
    expect(await countIn(store, "n", lagging)).toBe(2);
    expect(reads).toBe(1);
    await store.eraseNamespace("n");
    expect(await countIn(store, "n", lagging)).toBe(0);
    await store.commit("n", [tally("c")], counting);
    expect(await countIn(store, "n", lagging)).toBe(1);
    await pool.query("select pg_wal_replay_resume()");
    pool.on("error", () => {});
    await replica.kill();
    expect(await countIn(store, "n", lagging)).toBe(1);
    await replica.restart();
  });
});
