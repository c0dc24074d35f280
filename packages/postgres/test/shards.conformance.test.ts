import { DEFAULT_MODEL, describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { testCluster } from "./support/cluster.js";
import { damage } from "./support/damage.js";
import { remember } from "./support/remember.js";

const { pool, workerPools, url, ledger, giveBack } = await testCluster();
let handles = 0;

for (const [name, ways] of [
  ["by the coordinator", [{ pool }]],
  ["each handle by another worker", workerPools.map((each) => ({ pool: each }))],
  ["by a URL of all nodes", [{ connectionString: url, maxConnections: 2 }]],
] as const) {
  describeStore({
    name: `shards, ${name}`,
    model: { ...DEFAULT_MODEL, runs: 4 },
    async createBackend() {
      const schema = await ledger();
      return {
        open: () => postgresStore({ ...(ways[handles++ % ways.length] as (typeof ways)[0]), schema }),
        remember: () => remember(pool, schema),
        damage: (part) => damage(pool, schema, part),
        destroy: () => giveBack(schema),
      };
    },
  });
}
