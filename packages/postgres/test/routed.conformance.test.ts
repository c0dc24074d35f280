import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { rendezvous, routedStore } from "@qavr/core/store";
import { sqliteStore } from "@qavr/sqlite";
import { DEFAULT_MODEL, describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { ledgers } from "./support/ledgers.js";
import { remember } from "./support/remember.js";
import { testServer } from "./support/server.js";

const { pool } = await testServer();
const { ledger, giveBack } = ledgers(pool, { partitions: 0 });
const NAMES = ["a", "b", "c"];

describeStore({
  name: "routed over three postgres",
  model: { ...DEFAULT_MODEL, runs: 8 },
  async createBackend() {
    const schemas = [await ledger(), await ledger(), await ledger()];
    return {
      open: () =>
        routedStore({
          stores: Object.fromEntries(NAMES.map((name, i) => [name, postgresStore({ pool, schema: schemas[i] })])),
          by: rendezvous(NAMES),
        }),
      async remember() {
        const restores = await Promise.all(schemas.map((schema) => remember(pool, schema)));
        return async () => {
          for (const restore of restores) await restore();
        };
      },
      async destroy() {
        for (const schema of schemas) await giveBack(schema);
      },
    };
  },
});

describeStore({
  name: "routed over memory, sqlite and postgres",
  async createBackend() {
    const schema = await ledger();
    const folder = mkdtempSync(join(tmpdir(), "qavr-routed-"));
    return {
      open: () =>
        routedStore({
          stores: {
            a: memoryStore(),
            b: sqliteStore(join(folder, "b.db")),
            c: postgresStore({ pool, schema }),
          },
          by: rendezvous(NAMES),
        }),
      async destroy() {
        rmSync(folder, { recursive: true });
        await giveBack(schema);
      },
    };
  },
});
