import { describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { testServer } from "./support/server.js";

const server = await testServer();

describeStore({
  name: "postgres",
  createBackend() {
    const schema = server.schema();
    return {
      // Few partitions: every case creates its tables, and drops them.
      open: () => postgresStore({ pool: server.pool, schema, partitions: 2 }),
      destroy: () => server.drop(schema),
    };
  },
});
