import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createEngine, type Store } from "@qavr/core";
import { withOutbox } from "@qavr/core/store";
import { seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { cuttingProxy, type PostgresServer, startServer } from "@qavr/postgres-server";
import { sqliteOutbox } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult, type Size } from "./check.js";
import { forgettingKeys } from "./mutant-stores.js";
import { listed, Traffic } from "./traffic.js";
import { inFolder } from "./workspace.js";

/** How often the server stands still, how often its network is cut, and rankings during each of them. */
const FREEZES = { quick: 1, full: 10 } as const;
const RANKINGS_PER_FREEZE = { quick: 40, full: 600 } as const;
const CUTS = { quick: 8, full: 300 } as const;
const RANKINGS_PER_CUT = { quick: 5, full: 20 } as const;
/** Outcomes while the server stands still: more than the outbox has room for. */
const OUTCOMES = 60;
const OUTBOX = 40;
/** Runs that are under way when the network is cut. */
const TOGETHER = 5;
/** Runs recorded beforehand, so that there is something to rank by. */
const TAUGHT = 20;
/** Of the engine, ms. */
const READ_TIMEOUT = 50;
const WRITE_TIMEOUT = 300;
/** Promises of the circuit breaker: rankings that wait until it opens, and ms until a restored server is used again. */
const MOST_WAITING = 5;
const RECOVERY = 5_000;
/** A ranking that took longer, in ms, has waited for the server and not for its timeout. */
const SLOW = 1_000;

/** Last statement of a commit, without the lock of its namespace and with it. A transaction begins with "read committed". */
const STATEMENTS = ["with moved as", "commit\0"] as const;

/** Runs `work` with an engine that has an outbox and has learned something, and closes it. */
async function withTraffic(
  store: Store,
  work: (traffic: Traffic) => Promise<void>,
  readTimeout = READ_TIMEOUT,
): Promise<Traffic> {
  return inFolder(async (folder) => {
    const outbox = sqliteOutbox({ path: join(folder, "outbox.db"), maxCommits: OUTBOX });
    const engine = createEngine({ store: withOutbox(store, outbox), readTimeout, writeTimeout: WRITE_TIMEOUT });
    const traffic = new Traffic(engine);
    // Its first connection, and the tables, may take longer than the timeouts here.
    await store.head("default");
    while (traffic.committed === 0) {
      await traffic.record(TAUGHT);
      // While the outbox is not empty, all outcomes go into it, and none is committed.
      await traffic.engine.flush();
    }
    await work(traffic);
    await engine.close();
    return traffic;
  });
}

interface FreezeTally {
  readonly traffic: Traffic;
  /** The most rankings in a row that waited for the frozen server before it was left alone. */
  waiting: number;
  /** Longest time from SIGCONT to the first ranking that is not degraded, ms. */
  recovery: number;
}

/** Stops the server with SIGSTOP while rankings and outcomes go on. */
async function freezeServer(server: PostgresServer, size: Size): Promise<FreezeTally> {
  let [waiting, recovery] = [0, 0];
  const traffic = await withTraffic(postgresStore(server.url()), async (traffic) => {
    for (let freeze = 0; freeze < FREEZES[size]; freeze++) {
      server.freeze();
      let waited = 0;
      while ((await traffic.rank()) !== "STORE_CIRCUIT_OPEN" && waited <= MOST_WAITING) waited += 1;
      waiting = Math.max(waiting, waited);
      for (let ranking = 0; ranking < RANKINGS_PER_FREEZE[size]; ranking++) {
        await traffic.rank();
        await pause(1);
      }
      await traffic.record(OUTCOMES);
      server.thaw();
      const thawed = performance.now();
      // A breaker that never closes is found, and not waited for.
      while ((await traffic.rank()) !== undefined && performance.now() - thawed < 4 * RECOVERY) await pause(5);
      recovery = Math.max(recovery, performance.now() - thawed);
      await traffic.settle();
    }
  });
  return { traffic, waiting, recovery };
}

/** Cuts the network to the server at any moment, in the middle of a commit or for a while, while rankings and outcomes go on. */
async function cutNetwork(server: PostgresServer, size: Size): Promise<Traffic> {
  const random = seededRandom(7);
  await using proxy = await cuttingProxy(server.port);
  const connectionString = proxy.url(server.url());
  // Statements that are prepared are sent by their names, which say nothing to the proxy.
  const store = postgresStore({ connectionString, schema: "behind_a_network", prepare: false });
  return await withTraffic(store, async (traffic) => {
    for (let cut = 0; cut < CUTS[size]; cut++) {
      const runs = traffic.record(TOGETHER);
      if (cut % 2 === 0) {
        proxy.cut(STATEMENTS[Math.floor(random() * 2)] as string, random() < 0.5 ? "answered" : "unsent");
      } else {
        await pause(15 * random());
        proxy.block(true);
      }
      for (let ranking = 0; ranking < RANKINGS_PER_CUT[size]; ranking++) await traffic.rank();
      // Now and then for longer than the engine waits.
      if (cut % 2 === 1) await pause(random() < 0.2 ? 2 * WRITE_TIMEOUT : 60 * random());
      proxy.block(false);
      await runs;
      // Passes on what waits, so that the next cut meets commits again and not a store that is left alone.
      await traffic.engine.flush();
    }
    await traffic.settle();
  });
}

/** True when a ranking without a timeout returns while the server is stopped. */
async function answersWithoutTimeout(server: PostgresServer): Promise<boolean> {
  let answered = false;
  const store = postgresStore({ connectionString: server.url(), schema: "without_timeout" });
  const rankOnce = async (traffic: Traffic): Promise<void> => {
    server.freeze();
    const ranking = traffic.rank();
    answered = await Promise.race([ranking.then(() => true), pause(SLOW).then(() => false)]);
    server.thaw();
    await ranking;
  };
  await withTraffic(store, rankOnce, Number.MAX_SAFE_INTEGER);
  return answered;
}

export const unreachableServer: Harness = {
  name: "unreachable database server",
  async run(size): Promise<readonly CheckResult[]> {
    await using server = await startServer({ settings: { fsync: "off" } });
    const { traffic: frozen, waiting, recovery } = await freezeServer(server, size);
    const cut = await cutNetwork(server, size);
    const answered = await answersWithoutTimeout(server);
    const forgetful = await withTraffic(
      forgettingKeys(postgresStore({ connectionString: server.url(), schema: "forgetful" })),
      async (traffic) => {
        server.freeze();
        await traffic.record(TOGETHER);
        server.thaw();
        await traffic.settle().catch(() => undefined);
      },
    );
    return [
      rankingResult(frozen, "server stopped with SIGSTOP", FREEZES[size]),
      {
        promise: "R9",
        what: "the breaker, while the server stands still and when it goes on",
        tried: `${FREEZES[size]} times`,
        seen: `left alone after ${waiting} rankings that waited at most, used again ${Math.round(recovery)} ms after SIGCONT at most`,
        held: waiting <= MOST_WAITING && recovery <= RECOVERY,
      },
      rankingResult(cut, "network to the server cut", CUTS[size]),
      outcomeResult(frozen, "server stopped with SIGSTOP"),
      outcomeResult(cut, "network to the server cut"),
      mutantResult({
        what: "a ranking without a timeout, server stopped with SIGSTOP",
        tried: "1 ranking",
        seen: answered ? "answered" : `no answer within ${SLOW} ms`,
        held: !answered,
      }),
      mutantResult({
        what: "forgets keys, server stopped with SIGSTOP",
        tried: `${TAUGHT + TOGETHER} outcomes`,
        seen: forgetful.outcomesSeen,
        held: !forgetful.outcomesHeld,
      }),
    ];
  },
};

function rankingResult(traffic: Traffic, fault: string, times: number): CheckResult {
  return {
    promise: "R9",
    what: `rankings, ${fault}`,
    tried: `${traffic.rankings.toLocaleString("en")} rankings, ${times} times; degraded: ${listed(traffic.degraded)}`,
    seen: `${traffic.threw} threw, ${traffic.reordered} degraded ones not in the host's order, slowest ${Math.round(traffic.slowest)} ms`,
    held: traffic.rankingsHeld && traffic.slowest < SLOW,
  };
}

function outcomeResult(traffic: Traffic, fault: string): CheckResult {
  const { committed, queued, refused } = traffic;
  return {
    promise: "R10",
    what: `outcomes, ${fault}`,
    tried: `${committed} committed, ${queued} kept in the outbox; refused and repeated: ${listed(refused)}`,
    seen: traffic.outcomesSeen,
    held: traffic.outcomesHeld && [...refused.keys()].every((code) => code === "OUTBOX_FULL"),
  };
}
