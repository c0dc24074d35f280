import { startOlderServer } from "@qavr/postgres-server";
import { DEFAULT_MODEL, describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { damage } from "./support/damage.js";
import { remember } from "./support/remember.js";
import { testServer } from "./support/server.js";

const server = await testServer({}, startOlderServer);
const [{ server_version: version }] = (await server.pool.query("show server_version")).rows;

describeStore({
  name: `postgres ${version}`,
  // The same sequences and more run on the newest server.
  model: { ...DEFAULT_MODEL, runs: 10 },
  createBackend() {
    const schema = server.schema();
    return {
      open: () => postgresStore({ pool: server.pool, schema, partitions: 2 }),
      remember: () => remember(server.pool, schema),
      damage: (part) => damage(server.pool, schema, part),
      destroy: () => server.drop(schema),
    };
  },
});
