import { writeStates } from "@qavr/store-conformance";
import { describe, expect, it } from "vitest";
import { counting, NO_COUNT, tally } from "../../core/test/support/counting.js";
import { connections } from "../src/connection/connections.js";
import { resolvePostgresOptions } from "../src/postgres-options.js";
import { BESIDE, copyAll, copyChanges } from "../src/tables/copy-tables.js";
import { createTables, TABLES } from "../src/tables/create-tables.js";
import { openStore, testServer } from "./support/server.js";

const server = await testServer();

describe("tables that are copied while they are written to", () => {
  it("are the same in the end: what was added, compacted, erased, erased and begun again", async () => {
    const schema = server.schema();
    const options = { pool: server.pool, schema, partitions: 2 };
    const store = openStore(options);
    const commit = (namespace: string, ...keys: string[]) => store.commit(namespace, keys.map(tally), counting);
    for (const name of ["left", "added", "compacted", "again", "gone", "anew", "shorter"])
      await commit(name, "a", "b", "c");
    await writeStates(store, "again", [], { seq: 1, states: [] });
    await server.pool.query(createTables({ schema, partitions: 0, prefix: BESIDE }));
    const source = connections(server.pool, resolvePostgresOptions(options));
    await source.use(async (connection) => {
      const copied = await copyAll(connection, schema);
      await commit("added", "d");
      await writeStates(store, "compacted", [NO_COUNT], { seq: 2, states: [] });
      await commit("again", "d");
      await writeStates(store, "again", [], { seq: 3, states: [{ ...NO_COUNT, value: Uint8Array.of(1) }] });
      for (const name of ["gone", "anew", "shorter"]) await store.eraseNamespace(name);
      await commit("anew", "x", "y", "z", "a");
      await commit("shorter", "a");
      await commit("new", "a");
      expect(await copyChanges(connection, schema, copied)).toMatchObject({ changed: 7 });
      const again = await copyChanges(connection, schema, (await copyChanges(connection, schema, copied)).copied);
      expect(again.changed).toBe(0);
    });
    for (const table of TABLES) {
      const all = `${schema}.${table}`;
      const [copy, rows] = [`select * from ${schema}.${BESIDE}${table}`, `select * from ${all}`];
      const { rows: differing } = await server.pool.query(
        `(${copy} except ${rows}) union all (${rows} except ${copy})`,
      );
      expect(differing, table).toEqual([]);
      expect((await server.pool.query(rows)).rowCount, table).toBeGreaterThan(0);
    }
  });
});
