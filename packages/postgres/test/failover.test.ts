import type { LedgerEntry, Reduce } from "@qavr/core/store";
import { type CuttingProxy, cuttingProxy, type PostgresServer, startServer } from "@qavr/postgres-server";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { openStore } from "./support/server.js";
import { SOON } from "./support/soon.js";

/** Counts, and keeps the entry's key beside it. */
const countingWith = (key: string): Reduce =>
  function* () {
    return [...(yield* counting()), { scope: "stats", id: "last", value: new TextEncoder().encode(key) }];
  };

describe("stores whose server fails over to a replica that had not received the last commit", () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let followed: CuttingProxy;
  let address: CuttingProxy;
  beforeAll(async () => {
    primary = await startServer({ settings: { fsync: "off" } });
    followed = await cuttingProxy(primary.port);
    replica = await primary.startReplica({ through: followed.port });
    address = await cuttingProxy(primary.port);
  });
  afterAll(async () => {
    for (const proxy of [followed, address]) await proxy.close();
    for (const server of [replica, primary]) await server.stop();
  });

  it("go on with what the new server has, also when that has as many commits by now", async () => {
    const connectionString = address.url(primary.url());
    const [store, other] = [openStore(connectionString), openStore(connectionString)];
    const commit = (from: typeof store, key: string): Promise<unknown> => {
      const entry: LedgerEntry = tally(key);
      return from.commit("n", [entry], countingWith(key));
    };
    const last = async (from: typeof store): Promise<string> =>
      new TextDecoder().decode((await from.readStates("n", "stats", ["last"]))[0]);
    // Twice, so that the process knows itself to be alone.
    for (const key of ["a", "b"]) await commit(store, key);
    const standby = new Client(replica.url());
    await standby.connect();
    await expect
      .poll(async () => (await standby.query("select head from qavr.namespace")).rows[0]?.head, SOON)
      .toBe("2");
    followed.block(true);
    await commit(store, "lost");
    await primary.kill();
    await standby.query("select pg_promote()");
    await standby.end();
    address.redirect(replica.port);
    expect(await commit(other, "kept")).toEqual([{ status: "committed", seq: 3 }]);
    expect([await last(store), await last(other)]).toEqual(["kept", "kept"]);
    expect(await commit(store, "c")).toEqual([{ status: "committed", seq: 4 }]);
    // Lost commits may be repeated.
    expect(await commit(store, "lost")).toEqual([{ status: "committed", seq: 5 }]);
    const entries = await other.readEntries("n", { limit: 10 });
    expect(entries.map(({ key }) => key)).toEqual(["a", "b", "kept", "c", "lost"]);
    expect([await countIn(store), await countIn(other), (await other.verify()).damaged]).toEqual([5, 5, 0]);
  });
});
