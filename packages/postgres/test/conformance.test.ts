import { describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { damage } from "./support/damage.js";
import { remember } from "./support/remember.js";
import { testServer } from "./support/server.js";

const server = await testServer();

describeStore({
  name: "postgres",
  createBackend() {
    const schema = server.schema();
    return {
      // Few partitions: every case creates its tables, and drops them.
      open: () => postgresStore({ pool: server.pool, schema, partitions: 2 }),
      remember: () => remember(server.pool, schema),
      damage: (part) => damage(server.pool, schema, part),
      destroy: () => server.drop(schema),
    };
  },
});
