import type { Store } from "@qavr/core";
import { writeStates } from "@qavr/store-conformance";
import { Client, Pool } from "pg";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { changeSetting } from "./support/change-setting.js";
import { refusalOf } from "./support/refusal.js";
import { openStore, testServer } from "./support/server.js";
import { SOON } from "./support/soon.js";

const server = await testServer();
const connectionString = server.url();

/** Has commits wait for a replica that is not there, or for none. */
async function waitFor(replica: "the_replica" | ""): Promise<void> {
  await changeSetting(server.pool, "synchronous_standby_names", replica);
  // The process that writes checkpoints has commits wait, and may learn of the change later than sessions do.
  await server.pool.query("checkpoint");
}

/** Process ids of the sessions whose commits wait for a replica. */
async function waiting(): Promise<number[]> {
  const query = "select pid from pg_stat_activity where wait_event = 'SyncRep'";
  return (await server.pool.query(query)).rows.map(({ pid }) => pid);
}

/** Ends the session whose commit waits: what it has committed stands on this server alone. */
async function endWaiting(): Promise<number> {
  await expect.poll(waiting, SOON).toHaveLength(1);
  const [pid] = await waiting();
  await server.pool.query("select pg_terminate_backend($1)", [pid]);
  return pid as number;
}

/** Expects that a call waits for a replica, in another session than before, and resolves when none is asked for any more. */
async function waits<Result>(call: Promise<Result>, before?: number): Promise<Result> {
  let isAnswered = false;
  const answered = call.finally(() => {
    isAnswered = true;
  });
  await expect.poll(async () => (await waiting()).filter((pid) => pid !== before), SOON).toHaveLength(1);
  expect(isAnswered).toBe(false);
  await waitFor("");
  return answered;
}

describe("with synchronous replication", () => {
  const open = (schema: string): Store => openStore({ connectionString, schema });
  const c = [tally("c")];

  it("a commit whose session was ended while it waited for a replica waits for it again, and so does whoever repeats it", async () => {
    const schema = server.schema();
    const [store, other] = [open(schema), open(schema)];
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    await waitFor("the_replica");
    const commit = store.commit("n", c, counting);
    const before = await endWaiting();
    expect(await waits(commit, before)).toEqual([{ status: "committed", seq: 3 }]);
    for (const each of [other, store]) {
      await waitFor("the_replica");
      expect(await waits(each.commit("n", c, counting))).toEqual([{ status: "duplicate", seq: 3 }]);
    }
    // By now the process is alone again, and finds its entry without the lock.
    await store.commit("n", [tally("d")], counting);
    await waitFor("the_replica");
    expect(await waits(store.commit("n", c, counting))).toEqual([{ status: "duplicate", seq: 3 }]);
    expect(await countIn(store)).toBe(4);
  });

  it("so do a compaction and an erasure", async () => {
    const store = open(server.schema());
    for (const key of ["a", "b"]) await store.commit("n", [tally(key)], counting);
    await waitFor("the_replica");
    const compacted = writeStates(store, "n", [], { seq: 1, states: [] });
    expect(await waits(compacted, await endWaiting())).toBe(true);
    expect(await store.readCheckpoint?.("n")).toEqual({ seq: 1, states: [] });
    await waitFor("the_replica");
    const erased = store.eraseNamespace("n");
    await waits(erased, await endWaiting());
    expect([await store.head("n"), await store.namespaces({ limit: 1 })]).toEqual([0, []]);
  });

  it("a repeated commit waits for somebody else's lock no longer than was said, on any pool", async () => {
    const schema = server.schema();
    const pool = new Pool({ connectionString, max: 1 });
    pool.on("error", () => {});
    const session = async (): Promise<unknown> => (await pool.query("select pg_backend_pid()")).rows;
    const store = postgresStore({ pool, schema, lockTimeout: 100 });
    for (const key of ["b", "c"]) await store.commit("n", [tally(key)], counting);
    const before = await session();
    await waitFor("the_replica");
    const blocker = new Client(connectionString);
    await blocker.connect();
    await blocker.query(`begin; select from ${schema}.namespace for update`);
    expect(await refusalOf(store.commit("n", c, counting))).toMatchObject({ code: "STORE_BUSY" });
    // A session that the store has given up waiting for would be another one now.
    expect(await session()).toEqual(before);
    await blocker.end();
    await waitFor("");
    expect(await store.commit("n", c, counting)).toEqual([{ status: "duplicate", seq: 2 }]);
    await store.close();
    await pool.end();
  });
});
