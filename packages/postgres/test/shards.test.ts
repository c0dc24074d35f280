import { createEngine } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { routedStore } from "@qavr/core/store";
import type { PostgresServer } from "@qavr/postgres-server";
import { writeStates } from "@qavr/store-conformance";
import { Client, Pool } from "pg";
import { describe, expect, it, vi } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { distributeLedger, postgresStore } from "../src/index.js";
import { nameId } from "../src/tables/digests.js";
import { testCluster } from "./support/cluster.js";
import { refusalOf } from "./support/refusal.js";
import { openStore } from "./support/server.js";
import { SOON } from "./support/soon.js";

const cluster = await testCluster();
const { pool, coordinator, workers } = cluster;

/** The worker that has the rows of a namespace. */
async function workerOf(schema: string, namespace: string): Promise<PostgresServer> {
  const { rows } = await pool.query(
    `select nodeport::int from pg_dist_shard_placement where shardid = get_shard_id_for_distribution_column($1, $2::uuid)`,
    [`${schema}.namespace`, nameId(namespace)],
  );
  return workers.find(({ port }) => port === rows[0].nodeport) as PostgresServer;
}

/** Names of namespaces, one on each worker. */
async function oneOnEach(schema: string): Promise<string[]> {
  const names: string[] = [];
  for (const worker of workers) {
    for (let n = 0; names.length <= workers.indexOf(worker); n++) {
      if ((await workerOf(schema, `n${n}`)) === worker) names.push(`n${n}`);
    }
  }
  return names;
}

/** Runs SQL on a node itself, on a table that it has of a distributed one. */
async function onNode<T>(node: PostgresServer, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(node.url());
  await client.connect();
  await client.query("set citus.override_table_visibility = off; set citus.enable_ddl_propagation = off");
  await client.query("set citus.enable_manual_changes_to_shards = on");
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A pool of one connection that notes which node is sent which statement. */
async function watchedPool(): Promise<{ readonly pool: Pool; readonly sent: string[] }> {
  const sent: string[] = [];
  const watched = new Pool({ connectionString: coordinator.url(), max: 1 });
  watched.on("error", () => {});
  watched.on("connect", (client) => {
    client.on("notice", ({ message, detail }) => {
      if (message?.startsWith("issuing ")) sent.push(`${/@(\S+)/.exec(detail ?? "")?.[1]} ${message.slice(8)}`);
    });
  });
  await watched.query("set citus.log_remote_commands = on; set client_min_messages = notice");
  return { pool: watched, sent };
}

const nodesIn = (sent: readonly string[]): string[] => [...new Set(sent.map((line) => line.split(" ")[0] as string))];

describe("a commit on shards", () => {
  it("sends one node two messages without the lock, however often its statements ran before", async () => {
    const schema = await cluster.ledger();
    const watched = await watchedPool();
    const store = postgresStore({ pool: watched.pool, schema });
    for (let n = 0; n < 12; n++) await store.commit("n", [tally(`a${n}`)], counting);
    watched.sent.length = 0;
    await store.commit("n", [tally("b"), tally("c")], counting);
    expect(watched.sent).toHaveLength(2);
    expect(nodesIn(watched.sent)).toHaveLength(1);
    await store.close();
    await watched.pool.end();
  });

  it("touches one node with the lock, in pieces, and so do a compaction and an erasure", async () => {
    const schema = await cluster.ledger();
    const watched = await watchedPool();
    const store = postgresStore({ pool: watched.pool, schema });
    const large = (key: string) => ({ ...tally(key), payload: new Uint8Array(1_000_000) });
    for (const work of [
      () => store.commit("n", [tally("a")], counting),
      // More than one statement takes.
      () => store.commit("n", [..."bcdefghijk"].map(large), counting),
      () => writeStates(store, "n", [], { seq: 1, states: [] }),
      () => store.eraseNamespace("n"),
    ]) {
      watched.sent.length = 0;
      await work();
      expect(nodesIn(watched.sent)).toHaveLength(1);
      expect(watched.sent.join("\n")).not.toContain("PREPARE TRANSACTION");
    }
    await store.close();
    await watched.pool.end();
  });

  it("waits for the disk of its node, where commits do not, and has its limits there", async () => {
    const schema = await cluster.ledger();
    const store = openStore({ pool, schema, lockTimeout: 4_321, statementTimeout: 8_765 });
    const node = await workerOf(schema, "n");
    await onNode(node, async (client) => {
      await client.query("alter system set synchronous_commit = off");
      await client.query("select pg_reload_conf()");
      const { rows } = await client.query(
        "select relname from pg_class where relnamespace = $1::regnamespace and relkind = 'r' and relname ~ '^entry_'",
        [schema],
      );
      await client.query(`create table ${schema}.seen (disk text, lock text, statement text, silence text)`);
      await client.query(`create function ${schema}.look() returns trigger language plpgsql as $$ begin
        insert into ${schema}.seen values (current_setting('synchronous_commit'), current_setting('lock_timeout'),
          current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'));
        return new; end $$`);
      for (const { relname } of rows) {
        await client.query(
          `create trigger look before insert on ${schema}.${relname} for each row execute function ${schema}.look()`,
        );
      }
      for (const key of ["a", "b", "c"]) await store.commit("n", [tally(key)], counting);
      // The coordinator ends a statement without the lock; a transaction with it must not keep its lock.
      const limits = { disk: "on", lock: "4321ms", statement: "8765ms", silence: "8765ms" };
      const alone = { disk: "on", lock: "4321ms" };
      expect((await client.query(`select * from ${schema}.seen`)).rows).toMatchObject([limits, alone, alone]);
      await client.query("alter system reset synchronous_commit");
      await client.query("select pg_reload_conf()");
    });
  });

  it("waits for a lock on its node no longer than was said, with the lock and without", async () => {
    const schema = await cluster.ledger();
    const [store, quick] = [1, 2].map(() => openStore({ pool, schema, lockTimeout: 200 }));
    if (!store || !quick) throw new Error("two stores");
    await quick.commit("n", [tally("a")], counting);
    const blocker = new Client(coordinator.url());
    await blocker.connect();
    await blocker.query(`begin; select * from ${schema}.namespace where id = '${nameId("n")}' for update`);
    const busy = { code: "STORE_BUSY", details: { sqlState: "55P03" } };
    expect(await refusalOf(store.commit("n", [tally("b")], counting))).toMatchObject(busy);
    expect(await refusalOf(quick.commit("n", [tally("c")], counting))).toMatchObject(busy);
    expect(await store.commit("m", [tally("b")], counting)).toEqual([{ status: "committed", seq: 1 }]);
    await blocker.end();
    expect(await store.commit("n", [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
  });
});

describe("a ledger on shards", () => {
  it("is found by a store that was not told of them, at every node", async () => {
    const schema = await cluster.ledger();
    const names = await oneOnEach(schema);
    for (const [i, each] of [pool, ...cluster.workerPools].entries()) {
      const store = postgresStore({ pool: each, schema, migrate: false });
      for (const name of names) {
        expect(await store.commit(name, [tally(`k${i}`)], counting)).toEqual([{ status: "committed", seq: i + 1 }]);
        expect(await countIn(store, name)).toBe(i + 1);
      }
      expect([...(await store.namespaces({ limit: 9 }))].sort()).toEqual([...names].sort());
      expect(await store.verify()).toMatchObject({ damaged: 0, namespaces: 2, entries: 2 * (i + 1) });
      await store.close();
    }
  });

  it("is current at every node, and by notifications where its URL names them all", async () => {
    const schema = await cluster.ledger();
    const open = () => openStore({ connectionString: cluster.url, schema, staleness: 600_000, listen: true });
    const [store, other] = [open(), open()];
    await store.commit("n", [tally("a")], counting);
    expect(await countIn(other, "n", { mayLag: true })).toBe(1);
    const listeners = "select 1 from pg_stat_activity where application_name = 'qavr' and query like 'listen %'";
    await expect.poll(async () => (await pool.query(listeners)).rowCount, SOON).toBe(2);
    await store.commit("n", [tally("b")], counting);
    expect(await countIn(other)).toBe(2);
    await store.commit("n", [tally("c")], counting);
    await expect.poll(() => countIn(other, "n", { mayLag: true }), SOON).toBe(3);
  });

  it("is created by several processes at once, in one schema and in several", async () => {
    const schemas = ["once_a", "once_b", "once_c", "once_a", "once_b", "once_c"];
    const stores = schemas.map((schema) => openStore({ pool, schema, shards: 2 }));
    expect(await Promise.all(stores.map((store) => store.head("n")))).toEqual(Array(6).fill(0));
  });

  it("may live in a schema of any name", async () => {
    const schema = `it's "odd"\\`;
    const store = openStore({ pool, schema, shards: 2 });
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    expect(await countIn(store)).toBe(2);
  });

  it("is not created at a worker", async () => {
    const store = openStore({ pool: cluster.workerPools[0] as Pool, schema: "elsewhere", shards: 2 });
    expect(await refusalOf(store.head("n"))).toMatchObject({ code: "UNSUPPORTED" });
  });

  it("shows each transaction its own namespace under row-level security, and lists all", async () => {
    await pool.query("create role app login; create schema secured authorization app");
    const connectionString = coordinator.url({ user: "app" });
    const store = openStore({ connectionString, schema: "secured", shards: 4, rowLevelSecurity: true });
    await store.head("n");
    const names = await oneOnEach("secured");
    for (const name of names) {
      for (const key of ["a", "b"]) await store.commit(name, [tally(key)], counting);
      expect([await countIn(store, name), await store.head(name)]).toEqual([2, 2]);
    }
    expect([...(await store.namespaces({ limit: 9 }))].sort()).toEqual([...names].sort());
    expect(await store.verify()).toMatchObject({ damaged: 0, namespaces: 2, entries: 4 });
    const client = new Client(connectionString);
    await client.connect();
    for (const table of ["namespace", "entry", "state"]) {
      expect((await client.query(`select 1 from secured.${table}`)).rows).toEqual([]);
    }
    await client.end();
  });
});

/** Nodes whose sessions have been asked by a store to write to a ledger. */
async function askedToWrite(schema: string): Promise<number[]> {
  const ports: number[] = [];
  for (const node of [coordinator, ...workers]) {
    const { rowCount } = await onNode(node, (client) =>
      client.query("select 1 from pg_stat_activity where application_name = 'qavr' and query like $1", [
        `select "${schema}".write_if_at(%`,
      ]),
    );
    if (rowCount) ports.push(node.port);
  }
  return ports;
}

describe("a URL of all nodes", () => {
  it("leads to the worker that has the namespace, and to where its shard has moved", async () => {
    const schema = await cluster.ledger();
    const [name] = (await oneOnEach(schema)) as [string];
    const [home, other] = workers as [PostgresServer, PostgresServer];
    const now = performance.now.bind(performance);
    const store = openStore({ connectionString: cluster.url, schema });
    const write = async (): Promise<number[]> => {
      for (let n = 0; n < 9; n++) await store.commit(name, [tally(`${now()}`)], counting);
      return askedToWrite(schema);
    };
    expect(await write()).toEqual([home.port]);
    await pool.query(
      `select citus_move_shard_placement(get_shard_id_for_distribution_column($1, $2::uuid), 'localhost', $3, 'localhost', $4, 'block_writes')`,
      [`${schema}.namespace`, nameId(name), home.port, other.port],
    );
    const later = vi.spyOn(performance, "now").mockImplementation(() => now() + 61_000);
    expect(await write()).toContain(other.port);
    later.mockRestore();
    expect(await countIn(store, name)).toBe(18);
  });
});

describe("a cluster with a node away", () => {
  it("stops the namespaces of a dead worker only, and says which part is missing", async () => {
    const schema = await cluster.ledger();
    const store = openStore({ pool, schema });
    const [here, away] = (await oneOnEach(schema)) as [string, string];
    for (const name of [here, away]) await store.commit(name, [tally("a")], counting);
    const dead = await workerOf(schema, away);
    await dead.kill();
    try {
      expect(await store.commit(here, [tally("b")], counting)).toEqual([{ status: "committed", seq: 2 }]);
      expect(await countIn(store, here)).toBe(2);
      expect((await refusalOf(store.commit(away, [tally("b")], counting))).code).toMatch(/UNAVAILABLE|COMMIT_UNKNOWN/);
      expect(await refusalOf(store.readEntries(away, { limit: 1 }))).toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect((await refusalOf(store.namespaces({ limit: 9 }))).message).toContain(`localhost:${dead.port}`);
      const onMissing = vi.fn();
      expect(await store.namespaces({ limit: 9, onMissing })).toEqual([here]);
      expect(onMissing.mock.calls).toEqual([[`localhost:${dead.port}`]]);
      const { namespaces, entries, damage } = await store.verify();
      expect([namespaces, entries]).toEqual([1, 2]);
      expect(damage).toEqual([{ problem: expect.stringContaining(`localhost:${dead.port}`) }]);
    } finally {
      await dead.restart();
    }
    expect((await store.commit(away, [tally("b")], counting))[0]?.seq).toBe(2);
    expect(await store.verify()).toMatchObject({ namespaces: 2, damaged: 0 });
  });

  it("has all that can be read verified, by an engine and behind a routed store", async () => {
    const schema = await cluster.ledger();
    const [here, away] = (await oneOnEach(schema)) as [string, string];
    const store = postgresStore({ pool, schema });
    const routed = routedStore({
      stores: { cluster: store, other: postgresStore({ pool, schema: "other" }) },
      by: () => "cluster",
    });
    const engine = closing(createEngine({ store: routed, readTimeout: 60_000 }));
    for (const namespace of [here, away]) {
      const { episode } = await engine.rank({ namespace, candidates: [{ id: "a", similarity: 1 }], topK: 1 });
      await engine.end(episode, { reward: true });
    }
    expect(await verify(engine)).toMatchObject({ ok: true, namespaces: 2, entries: 4 });
    const dead = await workerOf(schema, away);
    await dead.kill();
    try {
      const missing = { problem: expect.stringMatching(`^store cluster: .* localhost:${dead.port} `) };
      const report = { ok: false, namespaces: 1, entries: 2, damage: [missing], differing: [], unchecked: [] };
      expect(await verify(engine)).toMatchObject(report);
    } finally {
      await dead.restart();
    }
  });

  it("goes on without its coordinator where the URL names its workers, too", async () => {
    const schema = await cluster.ledger();
    const store = openStore({ connectionString: cluster.url, schema });
    const names = await oneOnEach(schema);
    for (const name of names) await store.commit(name, [tally("a")], counting);
    await coordinator.kill();
    try {
      const late = postgresStore({ connectionString: cluster.url, schema });
      for (const each of [store, late]) {
        for (let n = 0; n < 6; n++) {
          for (const name of names) await each.commit(name, [tally(`${each === late}${n}`)], counting);
        }
        for (const name of names) expect(await countIn(each, name)).toBe(await each.head(name));
      }
      expect(await store.head(names[0] as string)).toBe(13);
      await late.close();
    } finally {
      await coordinator.restart();
    }
    expect(await store.verify()).toMatchObject({ namespaces: 2, entries: 26, damaged: 0 });
  });
});

describe("a ledger on one server", () => {
  it.each([0, 2])("is distributed and brought back under writers, which go on (%i partitions)", async (partitions) => {
    const schema = `turned_${partitions}`;
    const stores = [1, 2, 3].map(() => openStore({ pool, schema, partitions }));
    const [store] = stores as [(typeof stores)[0]];
    const names = ["a", "b", "c", "d"];
    for (const name of names) await store.commit(name, [tally("first")], counting);
    let isOver = false;
    let written = names.length;
    const writing = stores.map(async (each, w) => {
      for (let n = 0; !isOver; n++) {
        const name = names[n % names.length] as string;
        const [receipt] = await each.commit(name, [tally(`w${w}-${n}`)], counting);
        expect(receipt?.status).toBe("committed");
        written += 1;
      }
    });
    const more = async (): Promise<void> => {
      const enough = written + 20;
      while (written < enough) await Promise.race([new Promise((resolve) => setTimeout(resolve, 1)), ...writing]);
    };
    await more();
    await distributeLedger({ pool, schema, shards: 4 });
    await more();
    const { rows } = await pool.query("select 1 from pg_dist_partition where logicalrelid = $1::regclass", [
      `${schema}.entry`,
    ]);
    expect(rows).toHaveLength(1);
    expect(await refusalOf(distributeLedger({ pool, schema, shards: 4 }))).toMatchObject({ code: "INVALID_ARGUMENT" });
    await distributeLedger({ pool, schema, shards: 0 });
    await more();
    isOver = true;
    await Promise.all(writing);
    expect(await store.verify()).toMatchObject({ namespaces: 4, entries: written, damaged: 0 });
    const counts = await Promise.all(names.map((name) => countIn(store, name)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(written);
  });

  it("keeps its row-level security and its grants, and loses no row that they hide", async () => {
    await pool.query("create role owner login; create role reader login; create schema hidden authorization owner");
    const options = { connectionString: coordinator.url({ user: "owner" }), schema: "hidden" };
    const first = openStore({ ...options, rowLevelSecurity: true });
    for (const name of ["a", "b"]) await first.commit(name, [tally("a"), tally("b")], counting);
    await pool.query("grant usage on schema hidden to reader; grant select on all tables in schema hidden to reader");
    const asReader = { ...options, connectionString: coordinator.url({ user: "reader" }), migrate: false };
    for (const shards of [4, 0]) {
      await distributeLedger({ ...options, shards });
      const [store, reading] = [postgresStore(options), postgresStore(asReader)];
      expect(await store.verify()).toMatchObject({ namespaces: 2, entries: 4, damaged: 0 });
      expect([await countIn(store, "a"), await countIn(reading, "b")]).toEqual([2, 2]);
      const client = new Client(options.connectionString);
      await client.connect();
      expect((await client.query("select 1 from hidden.entry")).rows).toEqual([]);
      await client.end();
      for (const each of [store, reading]) await each.close();
    }
    expect((await first.commit("a", [tally("c")], counting))[0]?.seq).toBe(3);
  });
});
