import { DEFAULT_MODEL, describeStore } from "@qavr/store-conformance";
import { postgresStore } from "../src/index.js";
import { testCluster } from "./support/cluster.js";
import { damage } from "./support/damage.js";
import { remember } from "./support/remember.js";

const { pool, workerPools, url, ledger, empty } = await testCluster();
/** Ledgers without a case: creating distributed tables takes longer than most cases. */
const idle: string[] = [];
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
      const schema = idle.pop() ?? (await ledger());
      return {
        open: () => postgresStore({ ...(ways[handles++ % ways.length] as (typeof ways)[0]), schema }),
        remember: () => remember(pool, schema),
        damage: (part) => damage(pool, schema, part),
        async destroy() {
          await empty(schema);
          idle.push(schema);
        },
      };
    },
  });
}
