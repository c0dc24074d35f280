import { setTimeout as pause } from "node:timers/promises";
import { distributeLedger, postgresStore } from "@qavr/postgres";
import { type CitusCluster, hasCitus, startCluster } from "@qavr/postgres-server";
import { Pool } from "pg";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { rewritingPool } from "./rewriting-pool.js";
import { counting, tally } from "./tallies.js";
import { REPEATED, type Survival, survivalOf, together, Writers } from "./writers.js";

const ENTRIES = { quick: 2_000, full: 100_000 } as const;
const PARTITIONS = { quick: [16], full: [16, 0] } as const;
const NAMESPACES: readonly string[] = Array.from({ length: 8 }, (_, n) => `tenant:${n}`);
const REFUSED: readonly string[] = [...REPEATED, "STORE_BUSY"];
/** Entries of one commit that fills the ledger, and bytes of each: about what a run takes. */
const BATCH = 500;
const BYTES = 1_500;

interface Turned extends Survival {
  readonly damaged: number;
  /** Of a writer, ms. */
  readonly longestWait: number;
  /** Of the command, ms. */
  readonly spent: number;
}

/** Distributes a ledger over a cluster, and brings it back, while every namespace is written to. */
async function turnOver(
  { coordinator }: CitusCluster,
  schema: string,
  { entries, partitions }: { readonly entries: number; readonly partitions: number },
  distribute: typeof distributeLedger,
): Promise<readonly [Turned, Turned]> {
  const options = { connectionString: coordinator.url(), schema };
  const store = postgresStore({ ...options, partitions });
  for (const namespace of NAMESPACES) {
    for (let n = 0; n < entries / NAMESPACES.length; n += BATCH) {
      const old = Array.from({ length: BATCH }, (_, i) => ({
        ...tally(`old-${n + i}`),
        payload: new Uint8Array(BYTES),
      }));
      await store.commit(namespace, old, counting);
    }
  }
  const turned: Turned[] = [];
  for (const shards of [32, 0]) {
    const writers = NAMESPACES.map(
      (namespace) => new Writers(store, { namespace, writers: 1, name: `s${shards}w`, repeated: REFUSED }),
    );
    await Promise.all(writers.map((each) => each.acknowledge(3)));
    const started = performance.now();
    await distribute({ ...options, shards });
    const spent = performance.now() - started;
    await Promise.all(writers.map((each) => each.acknowledge(3)));
    await pause(100);
    for (const each of writers) await each.finish();
    turned.push({
      ...together(await Promise.all(writers.map((each) => survivalOf(each, store)))),
      damaged: (await store.verify()).damaged,
      longestWait: Math.max(...writers.map((each) => each.longestWait)),
      spent,
    });
  }
  await store.close();
  return turned as [Turned, Turned];
}

/** Leaves out what is written while the command copies; it copies one moment. */
const withoutChanges: typeof distributeLedger = async ({ connectionString, ...options }) => {
  const pool = new Pool({ connectionString });
  const once = (text: string): string =>
    /^\s*delete from \S+next_/.test(text) ? "select 1" : text.replace("read committed", "repeatable read");
  await distributeLedger({ ...options, pool: rewritingPool(pool, once) });
  await pool.end();
};

export const turningOver: Harness = {
  name: "ledgers turned over to a cluster",
  obstacle: () => (hasCitus() ? undefined : "needs Citus: QAVR_CITUS_BIN names the folder of its programs"),
  async run(size): Promise<readonly CheckResult[]> {
    await using cluster = await startCluster({ settings: { fsync: size === "full" ? "on" : "off" } });
    const entries = ENTRIES[size];
    const results: CheckResult[] = [];
    for (const partitions of PARTITIONS[size]) {
      const turned = await turnOver(cluster, `from_${partitions}`, { entries, partitions }, distributeLedger);
      const from = partitions === 0 ? "plain tables" : `${partitions} partitions`;
      results.push(
        survived(turned[0], `a ledger with ${from} is distributed under ${NAMESPACES.length} writers (Citus)`, entries),
      );
      results.push(survived(turned[1], "and brought back", entries));
    }
    const [{ lost }] = await turnOver(cluster, "mutant", { entries: ENTRIES.quick, partitions: 0 }, withoutChanges);
    const mutant = mutantResult({
      what: "what is written while rows are copied is left out",
      tried: "once",
      seen: `${lost} lost outcomes seen`,
      held: lost > 0,
    });
    return [...results, mutant];
  },
};

function survived(turned: Turned, what: string, entries: number): CheckResult {
  const { acknowledged, refused, lost, doubled, damaged, longestWait, spent } = turned;
  return {
    promise: "R1",
    what,
    tried: `${entries.toLocaleString("en")} entries in ${(spent / 1_000).toFixed(1)} s, ${acknowledged} acknowledged outcomes`,
    seen: `${refused} refused, ${lost} lost, ${doubled} counted twice; verify ${damaged === 0 ? "clean" : "not clean"}; longest wait of a writer ${longestWait.toFixed(0)} ms`,
    held: refused === 0 && lost === 0 && doubled === 0 && damaged === 0,
  };
}
