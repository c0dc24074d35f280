import { setTimeout as pause } from "node:timers/promises";
import { createEngine, type Engine, QavrError } from "@qavr/core";
import { compact, verify } from "@qavr/core/maintenance";
import { seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { Pool } from "pg";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { learnedText } from "./learned-text.js";
import { rewritingPool, withoutTransactions } from "./rewriting-pool.js";
import { REPEATED } from "./writers.js";

const KILLS = { quick: 1, full: 60 } as const;
/** Kills until a compaction without a transaction must have been caught halfway. */
const TIMEOUT = 40;
const RUNS = 120;
const NAMESPACE = "n";
/** Most ms from the first dropped entry to the kill of a compaction without a transaction. */
const DROPPING = 10;
/** A younger ledger is not compacted. Unix ms */
const LATER = 1_800_000_000_000;

interface Ledger {
  readonly engine: Engine;
  close(): Promise<void>;
}

/** @param dropping is called when entries are dropped. If it is given, every statement is a transaction of its own. */
function open(server: PostgresServer, schema: string, dropping?: () => void): Ledger {
  const pool = new Pool({ connectionString: server.url() });
  pool.on("error", () => {});
  const piecemeal = (text: string): string => {
    if (/^\s*update \S+\.entry /.test(text)) dropping?.();
    return withoutTransactions(text);
  };
  const store = postgresStore({ pool: dropping ? rewritingPool(pool, piecemeal) : pool, schema });
  const engine = createEngine({ store, clock: () => LATER, outcomeWindow: 1 });
  return {
    engine,
    async close() {
      await engine.close();
      await pool.end();
    },
  };
}

/** Runs with outcomes, in a schema of their own. */
async function learn(server: PostgresServer, schema: string): Promise<string> {
  const store = postgresStore({ connectionString: server.url(), schema, partitions: 2 });
  let now = LATER - 10 * RUNS;
  const engine = createEngine({ store, clock: () => now });
  for (let run = 0; run < RUNS; run++) {
    now += 1;
    const candidates = [0, 1, 2, 3, 4, 5].map((i) => ({ id: `m${(run * 5 + i * 3) % 40}`, similarity: 0.9 - i / 20 }));
    const { episode } = await engine.rank({ namespace: NAMESPACE, text: `request ${run % 17}`, candidates, topK: 4 });
    await engine.end(episode, { reward: run % 3 !== 0, idempotencyKey: `run-${run}` });
  }
  const learned = await learnedText(engine, NAMESPACE);
  await engine.close();
  return learned;
}

/** Compacts, and repeats refused calls as a caller would. Returns the number of refused calls. */
async function compactAll(engine: Engine): Promise<number> {
  for (let refused = 0; ; refused++) {
    try {
      await compact(engine, { namespace: NAMESPACE, olderThan: 0 });
      return refused;
    } catch (error) {
      if (!(QavrError.isInstance(error) && REPEATED.includes(error.code))) throw error;
      await pause(20);
    }
  }
}

/** Results of compactions whose server was killed. */
interface Found {
  kills: number;
  /** Kills before the compaction had returned. */
  interrupted: number;
  refused: number;
  /** Ledgers that do not verify, have forgotten something, or could not be compacted. */
  broken: number;
}

/** Kills the server some ms after the beginning of a compaction, or of its deletions if it is piecemeal, lets that go on, and looks at the ledger. */
async function killOnce(
  server: PostgresServer,
  { schema, after, piecemeal }: { readonly schema: string; readonly after: number; readonly piecemeal: boolean },
  found: Found,
): Promise<void> {
  const learned = await learn(server, schema);
  const dropping = Promise.withResolvers<void>();
  const ledger = open(server, schema, piecemeal ? dropping.resolve : undefined);
  let isOver = false;
  const compaction = compactAll(ledger.engine).then(
    (refused) => {
      isOver = true;
      return refused;
    },
    () => undefined,
  );
  if (piecemeal) await Promise.race([dropping.promise, compaction]);
  await pause(after);
  found.kills += 1;
  if (!isOver) found.interrupted += 1;
  await server.kill();
  await server.restart();
  const refused = await compaction;
  await ledger.close().catch(() => undefined);
  found.refused += refused ?? 0;
  const reader = open(server, schema);
  if (refused === undefined || !(await isWhole(reader.engine, learned))) found.broken += 1;
  await reader.close();
}

/** True for a ledger that verifies, is compacted, and has learned what it had learned before. */
async function isWhole(engine: Engine, learned: string): Promise<boolean> {
  try {
    const { ok } = await verify(engine);
    const { checkpoint } = await engine.status({ namespace: NAMESPACE });
    return ok && checkpoint > 0 && (await learnedText(engine, NAMESPACE)) === learned;
  } catch (error) {
    if (QavrError.isInstance(error, "STORE_CORRUPT")) return false;
    throw error;
  }
}

/** Duration of an undisturbed compaction, ms. */
async function undisturbed(server: PostgresServer): Promise<number> {
  await learn(server, "whole");
  const { engine, close } = open(server, "whole");
  // Connected, and its schema looked at.
  await engine.status({ namespace: NAMESPACE });
  const started = performance.now();
  await compactAll(engine);
  const spent = performance.now() - started;
  await close();
  return spent;
}

export const serverCompactions: Harness = {
  name: "database compactions",
  async run(size): Promise<readonly CheckResult[]> {
    await using server = await startServer({ settings: { fsync: "off" } });
    const whole = await undisturbed(server);
    const random = seededRandom(5);
    const after = (): number => whole * (0.2 + random());
    const nothing: Readonly<Found> = { kills: 0, interrupted: 0, refused: 0, broken: 0 };
    const [found, piecemeal] = [{ ...nothing }, { ...nothing }];
    while (found.kills < KILLS[size]) {
      await killOnce(server, { schema: `kill_${found.kills}`, after: after(), piecemeal: false }, found);
    }
    while (piecemeal.broken === 0 && piecemeal.kills < TIMEOUT) {
      await killOnce(
        server,
        { schema: `mutant_${piecemeal.kills}`, after: DROPPING * random(), piecemeal: true },
        piecemeal,
      );
    }
    return [
      {
        promise: "R1",
        what: "SIGKILL to every process of the database server while a ledger is compacted (PostgreSQL)",
        tried: `${found.kills} kills, ${found.interrupted} before the compaction was over, ${found.refused} calls refused and repeated`,
        seen: `${found.broken} ledgers that do not verify, or have learned or forgotten something`,
        held: found.broken === 0 && (size === "quick" || found.interrupted > 0),
      },
      mutantResult({
        what: "a compaction without a transaction",
        tried: `${piecemeal.kills} kills`,
        seen: `${piecemeal.broken} broken ledgers seen`,
        held: piecemeal.broken > 0,
      }),
    ];
  },
};
