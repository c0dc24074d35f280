import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { rendezvous, routedStore } from "@qavr/core/store";
import { sqliteStore } from "@qavr/sqlite";
import { DEFAULT_MODEL, describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { remember } from "./support/remember.js";
import { testServer } from "./support/server.js";

const server = await testServer();
const NAMES = ["a", "b", "c"];

describeStore({
  name: "routed over three postgres",
  // Each sequence creates the tables of three stores.
  model: { ...DEFAULT_MODEL, runs: 8 },
  createBackend() {
    const schemas = NAMES.map(() => server.schema());
    return {
      async open() {
        const store = routedStore({
          stores: Object.fromEntries(
            NAMES.map((name, i) => [name, postgresStore({ pool: server.pool, schema: schemas[i], partitions: 0 })]),
          ),
          by: rendezvous(NAMES),
        });
        // Creates the tables of all three.
        await store.namespaces({ limit: 1 });
        return store;
      },
      async remember() {
        const restores = await Promise.all(schemas.map((schema) => remember(server.pool, schema)));
        return async () => {
          for (const restore of restores) await restore();
        };
      },
      async destroy() {
        for (const schema of schemas) await server.drop(schema);
      },
    };
  },
});

describeStore({
  name: "routed over memory, sqlite and postgres",
  createBackend() {
    const schema = server.schema();
    const folder = mkdtempSync(join(tmpdir(), "qavr-routed-"));
    return {
      open: () =>
        routedStore({
          stores: {
            a: memoryStore(),
            b: sqliteStore(join(folder, "b.db")),
            c: postgresStore({ pool: server.pool, schema, partitions: 0 }),
          },
          by: rendezvous(NAMES),
        }),
      async destroy() {
        rmSync(folder, { recursive: true });
        await server.drop(schema);
      },
    };
  },
});
