import { describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { damage } from "./support/damage.js";
import { ledgers } from "./support/ledgers.js";
import { remember } from "./support/remember.js";
import { testServer } from "./support/server.js";

const { pool } = await testServer();
const { ledger, giveBack } = ledgers(pool, { partitions: 2 });

describeStore({
  name: "postgres",
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
