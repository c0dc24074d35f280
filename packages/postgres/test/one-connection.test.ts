import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { openStore, testServer } from "./support/server.js";
import { SOON } from "./support/soon.js";

const server = await testServer();

describe("a store with the longest timeouts there are", () => {
  it("waits so long, and does not give up at once", async () => {
    const longest = 2 ** 31 - 1;
    const timeouts = { statementTimeout: longest, lockTimeout: longest, connectTimeout: longest };
    const store = openStore({ connectionString: server.url(), schema: server.schema(), ...timeouts });
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq: 1 }]);
  });
});

describe("a store with a staleness and one connection", () => {
  it("leaves it to the calls, when it is an application's", async () => {
    const pool = new Pool({ connectionString: server.url(), max: 1 });
    pool.on("error", () => {});
    const store = postgresStore({ pool, schema: server.schema(), staleness: 1_000 });
    expect(await store.commit("n", [tally("a")], counting)).toEqual([{ status: "committed", seq: 1 }]);
    expect(await countIn(store, "n", { mayLag: true })).toBe(1);
    await store.close();
    await pool.end();
  });

  it("opens another one for listening, when the pool is its own", async () => {
    const options = { connectionString: server.url(), schema: server.schema(), maxConnections: 1, staleness: 60_000 };
    const [store, other] = [openStore(options), openStore(options)];
    await store.commit("n", [tally("a")], counting);
    expect(await countIn(store, "n", { mayLag: true })).toBe(1);
    await other.commit("n", [tally("b")], counting);
    await expect.poll(() => countIn(store, "n", { mayLag: true }), SOON).toBe(2);
  });
});
