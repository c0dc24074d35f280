import { startOlderServer } from "@qavr/postgres-server";
import { DEFAULT_MODEL, describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { damage } from "./support/damage.js";
import { ledgers } from "./support/ledgers.js";
import { remember } from "./support/remember.js";
import { testServer } from "./support/server.js";

const { pool } = await testServer({}, startOlderServer);
const { ledger, giveBack } = ledgers(pool, { partitions: 2 });
const [{ server_version: version }] = (await pool.query("show server_version")).rows;

describeStore({
  name: `postgres ${version}`,
  // The same sequences and more run on the newest server.
  model: { ...DEFAULT_MODEL, runs: 10 },
  async createBackend() {
    const schema = await ledger();
    return {
      open: () => postgresStore({ pool, schema }),
      remember: () => remember(pool, schema),
      damage: (part) => damage(pool, schema, part),
      destroy: () => giveBack(schema),
    };
  },
});
