import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createEngine, QavrError, type Store } from "@qavr/core";
import { exportState, replay } from "@qavr/core/maintenance";
import { postgresStore } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { deadlocksOf, onServer } from "./database.js";
import { outcomeOf } from "./runs.js";
import { addUp } from "./tallies.js";
import { fixture, inFolder } from "./workspace.js";

const PROCESSES = 4;
/** Outcomes of each process, which two processes send. */
const OUTCOMES = { quick: 25, full: 10_000 } as const;
const CONFLICTS = { quick: 20, full: 1_000 } as const;
/** Transactions of each session of the deadlocking mutant. */
const TRANSACTIONS = { quick: 8, full: 200 } as const;
const SESSIONS = 4;

/** Place of a ledger for a process: a file or the URL of a server. */
interface Place {
  readonly name: string;
  readonly place: string;
  open(): Store;
}

/** Lets processes send outcomes, each of which two of them send, and says how many the ledger took for new and what it adds up to. */
async function sendTwice({ place, open }: Place, outcomes: number, mode = ""): Promise<string> {
  const children = Array.from({ length: PROCESSES }, async (_, child) => {
    const prefixes = `p${child},p${(child + 1) % PROCESSES}`;
    const run = [fixture("send-tallies.mjs"), place, prefixes, String(outcomes), mode];
    const sender = spawn(process.execPath, run, { stdio: ["ignore", "pipe", "inherit"] });
    return Number(await text(sender.stdout));
  });
  const fresh = (await Promise.all(children)).reduce((sum, each) => sum + each, 0);
  const store = open();
  const { entries, places, gaps, wrong } = await addUp(store);
  await store.close();
  return `${fresh} taken for new, ${entries} in the ledger, ${places.size} different, ${gaps} gaps, ${wrong} wrong counts`;
}

const exactly = (total: number): string =>
  `${total} taken for new, ${total} in the ledger, ${total} different, 0 gaps, 0 wrong counts`;

/** Sends outcomes again under their keys with another payload: each must be refused with a code and change nothing. */
async function contradict({ open }: Place, conflicts: number): Promise<{ refused: number; changed: boolean }> {
  const store = open();
  const namespace = "contradicted";
  const engine = createEngine({ store });
  const episodes: string[] = [];
  for (let run = 0; run < conflicts; run++) {
    const { episode } = await engine.rank({
      namespace,
      candidates: [{ id: `m${run % 40}`, similarity: 0.5 }],
      topK: 1,
      aliases: [`run-${run}`],
    });
    await engine.end(episode, outcomeOf(run));
    episodes.push(episode);
  }
  const said = async (): Promise<string> =>
    JSON.stringify([
      await store.head(namespace),
      await exportState(engine, { namespace }),
      await engine.status({ namespace }),
    ]);
  const before = await said();
  let refused = 0;
  for (let run = 0; run < conflicts; run++) {
    const { reward, ...outcome } = outcomeOf(run);
    await engine.report(episodes[run] as string, { ...outcome, reward: !reward }, { namespace }).catch((error) => {
      if (QavrError.isInstance(error, "IDEMPOTENCY_CONFLICT")) refused += 1;
    });
  }
  const changed = (await said()) !== before || !(await replay(engine, { namespace })).identical;
  await engine.close();
  return { refused, changed };
}

/** Writes to the states of a ledger as no store should: rows in the order in which they come, and without the lock of their namespace. */
async function lockInAnyOrder(url: string, transactions: number): Promise<void> {
  const session = (number: number): Promise<void> =>
    onServer(url, async (client) => {
      const { rows } = await client.query("select scope, id from qavr.state order by id limit 10");
      for (let transaction = 0; transaction < transactions; transaction++) {
        await client.query("begin");
        try {
          for (let i = 0; i < 5; i++) {
            const { scope, id } = rows[(transaction * 3 + number + i * (1 + (number % 3))) % rows.length];
            await client.query("update qavr.state set value = value where scope = $1 and id = $2", [scope, id]);
          }
          await client.query("commit");
        } catch (error) {
          if ((error as { code?: string }).code !== "40P01") throw error;
          await client.query("rollback");
        }
      }
    });
  await Promise.all(Array.from({ length: SESSIONS }, (_, number) => session(number)));
}

export const exactCounts: Harness = {
  name: "exact counts",
  async run(size): Promise<readonly CheckResult[]> {
    await using server = await startServer({
      settings: { fsync: size === "full" ? "on" : "off", deadlock_timeout: "50ms" },
    });
    return await inFolder(async (folder) => {
      const path = join(folder, "ledger.db");
      const places: readonly Place[] = [
        { name: "SQLite", place: path, open: () => sqliteStore(path) },
        { name: "PostgreSQL", place: server.url(), open: () => postgresStore(server.url()) },
      ];
      const total = PROCESSES * OUTCOMES[size];
      const results: CheckResult[] = [];
      for (const each of places) {
        const seen = await sendTwice(each, OUTCOMES[size]);
        results.push({
          promise: "R3",
          what: `${PROCESSES} processes on one namespace, each outcome sent by two of them (${each.name})`,
          tried: `${total.toLocaleString("en")} outcomes, ${(2 * total).toLocaleString("en")} sent`,
          seen,
          held: seen === exactly(total),
        });
      }
      const deadlocks = await deadlocksOf(server.url());
      results.push({
        promise: "R6",
        what: "deadlocks that the server saw meanwhile (PostgreSQL)",
        tried: `${(2 * total).toLocaleString("en")} outcomes sent, which touch up to 6 of 21 states each`,
        seen: `${deadlocks} deadlocks`,
        held: deadlocks === 0,
      });
      for (const each of places) {
        const { refused, changed } = await contradict(each, CONFLICTS[size]);
        results.push({
          promise: "R3",
          what: `the same keys with another payload (${each.name})`,
          tried: `${CONFLICTS[size].toLocaleString("en")} outcomes`,
          seen: `${refused.toLocaleString("en")} refused with IDEMPOTENCY_CONFLICT, states ${changed ? "changed" : "unchanged"}`,
          held: refused === CONFLICTS[size] && !changed,
        });
      }
      return [...results, ...(await mutants(folder, server.url(), TRANSACTIONS[size]))];
    });
  },
};

async function mutants(folder: string, url: string, transactions: number): Promise<readonly CheckResult[]> {
  const path = join(folder, "forgetful.db");
  const few = OUTCOMES.quick;
  const seen = await sendTwice({ name: "SQLite", place: path, open: () => sqliteStore(path) }, few, "forgetful");
  const before = await deadlocksOf(url);
  await lockInAnyOrder(url, transactions);
  const deadlocks = (await deadlocksOf(url)) - before;
  return [
    mutantResult({
      what: "forgets keys, while four processes send everything twice",
      tried: `${PROCESSES * few} outcomes`,
      seen,
      held: seen !== exactly(PROCESSES * few),
    }),
    mutantResult({
      what: "writes rows in any order, without the namespace's lock",
      tried: `${SESSIONS} sessions of ${transactions} transactions`,
      seen: `${deadlocks} deadlocks`,
      held: deadlocks > 0,
    }),
  ];
}
