import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createEngine, type Engine, QavrError, type Store } from "@qavr/core";
import { moveNamespace, verify } from "@qavr/core/maintenance";
import { type Reduce, rendezvous, routedStore } from "@qavr/core/store";
import { postgresStore } from "@qavr/postgres";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { inFolder } from "./workspace.js";

const MOVES = { quick: 4, full: 20 } as const;
const WRITERS = 8;
/** Acknowledged outcomes between two moves. */
const BETWEEN = { quick: 20, full: 200 } as const;
const PLACES = ["north", "south", "west"] as const;
type Place = (typeof PLACES)[number];
/** One at home in each store. */
const NAMESPACES: readonly string[] = PLACES.map((place) => {
  const home = rendezvous(PLACES);
  for (let n = 0; ; n++) if (home(`tenant:${n}`) === place) return `tenant:${n}`;
});

/** A mutant's change of a writer's stores. */
type Wrap = (store: Store) => Store;

/** Two SQLite files and a PostgreSQL server. */
function openRouted(folder: string, server: PostgresServer, wrap: Wrap = (store) => store): Store {
  const stores: Record<Place, Store> = {
    north: wrap(sqliteStore(join(folder, "north.db"))),
    south: wrap(sqliteStore(join(folder, "south.db"))),
    west: wrap(postgresStore({ connectionString: server.url(), maxConnections: 2, connectTimeout: 1_000 })),
  };
  return routedStore({ stores, by: rendezvous(PLACES) });
}

/** A process that records outcomes of every namespace, and repeats what was refused. */
class Writer {
  readonly #engine: Engine;
  readonly #name: string;
  /** Episodes with an acknowledged outcome, by namespace. */
  readonly acknowledged: Map<string, string[]> = new Map(NAMESPACES.map((namespace) => [namespace, []]));
  longestWait = 0;
  readonly #running: Promise<void>;
  isOver = false;

  constructor(store: Store, name: string) {
    this.#engine = createEngine({ store, readTimeout: 60_000, writeTimeout: 60_000 });
    this.#name = name;
    this.#running = this.#write();
  }

  async finish(): Promise<void> {
    this.isOver = true;
    await this.#running;
    await this.#engine.close();
  }

  async #write(): Promise<void> {
    for (let run = 0; !this.isOver; run++) {
      const namespace = NAMESPACES[run % NAMESPACES.length] as string;
      const started = performance.now();
      const candidates = Array.from({ length: 6 }, (_, i) => ({ id: `m${(run + i) % 12}`, similarity: 0.9 - i / 20 }));
      const { episode } = await this.#engine.rank({ namespace, candidates, topK: 3 });
      if (!(await this.#untilAnswered(namespace, episode, `${this.#name}-${run}`))) return;
      this.acknowledged.get(namespace)?.push(episode);
      this.longestWait = Math.max(this.longestWait, performance.now() - started);
    }
  }

  /** Returns false for a call that was not acknowledged by the end. */
  async #untilAnswered(namespace: string, episode: string, idempotencyKey: string): Promise<boolean> {
    for (;;) {
      try {
        await this.#engine.end(episode, { reward: true, idempotencyKey });
        return true;
      } catch (error) {
        if (!QavrError.isInstance(error)) throw new Error(`A write to ${namespace} failed.`, { cause: error });
        if (this.isOver) return false;
        await pause(5);
      }
    }
  }
}

interface Moved {
  readonly acknowledged: number;
  /** Acknowledged and not in the ledger, and moves that found two ledgers where one should be. */
  readonly lost: number;
  readonly doubled: number;
  readonly isVerified: boolean;
  readonly longestWait: number;
  /** Of one move, ms. */
  readonly longestMove: number;
}

/** Moves namespaces around while writers record. */
async function moveUnderWriters(moves: number, between: number, wrap?: Wrap): Promise<Moved> {
  await using server = await startServer({ settings: { fsync: "off" } });
  return await inFolder(async (folder) => {
    const mover = createEngine({ store: openRouted(folder, server) });
    const writers = Array.from({ length: WRITERS }, (_, i) => new Writer(openRouted(folder, server, wrap), `w${i}`));
    const countOf = (): number =>
      writers.reduce((sum, { acknowledged }) => sum + [...acknowledged.values()].flat().length, 0);
    let [longestMove, differing] = [0, 0];
    for (let move = 0; move < moves; move++) {
      for (const before = countOf(); countOf() < before + between; ) await pause(2);
      const started = performance.now();
      const namespace = NAMESPACES[move % NAMESPACES.length] as string;
      // Every namespace goes round, home included.
      const to = PLACES[(move + 1 + Math.floor(move / PLACES.length)) % PLACES.length] as string;
      try {
        await moveNamespace(mover, { namespace, to });
      } catch (error) {
        // Two ledgers that went apart: the copy is compared with its source.
        if (!QavrError.isInstance(error, "STORE_FAILED")) throw error;
        differing += 1;
        break;
      }
      longestMove = Math.max(longestMove, performance.now() - started);
    }
    for (const writer of writers) writer.isOver = true;
    for (const writer of writers) await writer.finish();
    const longestWait = Math.max(...writers.map((writer) => writer.longestWait));
    if (differing > 0) {
      await mover.close();
      return { acknowledged: countOf(), lost: differing, doubled: 0, isVerified: false, longestWait, longestMove };
    }
    let [lost, doubled] = [0, 0];
    for (const namespace of NAMESPACES) {
      const recorded = await outcomesOf(mover, namespace);
      const known = new Set(recorded);
      lost += writers
        .flatMap((writer) => writer.acknowledged.get(namespace) as string[])
        .filter((id) => !known.has(id)).length;
      const { outcomes } = await mover.status({ namespace });
      const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
      doubled += recorded.length - known.size + Math.abs(counted - recorded.length);
    }
    const { ok } = await verify(mover);
    await mover.close();
    return { acknowledged: countOf(), lost, doubled, isVerified: ok, longestWait, longestMove };
  });
}

/** Episodes of a ledger's outcomes. */
async function outcomesOf(engine: Engine, namespace: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { events, next } = await engine.history({ namespace, after, limit: 1_000 });
    found.push(...events.flatMap((event) => (event.type === "outcome" ? [event.episode] : [])));
    after = next;
  }
  return found;
}

/** Hides the places of namespaces: writers go by a table of their own. */
const withoutPlaces: Wrap = (store) => ({
  ...store,
  commit: (namespace, entries, reduce) => store.commit(namespace, entries, withoutPlace(reduce)),
  readStates: async (namespace, scope, ids, options) =>
    scope === "place" ? ids.map(() => undefined) : store.readStates(namespace, scope, ids, options),
});

function withoutPlace(reduce: Reduce): Reduce {
  return function* (entry) {
    const reduction = reduce(entry);
    let step = reduction.next();
    while (!step.done) {
      const wanted = step.value;
      const values = yield wanted;
      step = reduction.next(values.map((value, i) => (wanted[i]?.scope === "place" ? undefined : value)));
    }
    return step.value;
  };
}

/** Namespaces that can be ranked and written, before the server of one is killed, meanwhile, and after. */
async function killOneStore(): Promise<readonly number[]> {
  await using server = await startServer({ settings: { fsync: "off" } });
  return await inFolder(async (folder) => {
    const engine = createEngine({ store: openRouted(folder, server), readTimeout: 5_000 });
    const works = async (namespace: string): Promise<boolean> => {
      const candidates = [{ id: "a", similarity: 1 }];
      const { episode, degraded } = await engine.rank({ namespace, candidates, topK: 1 });
      const isWritten = await engine.end(episode, { reward: true }).then(
        () => true,
        () => false,
      );
      return isWritten && !degraded;
    };
    const working = async (): Promise<number> => {
      let count = 0;
      for (const namespace of NAMESPACES) {
        // Enough failures to open the circuit breaker, at once: each write is repeated for two seconds.
        await Promise.all(Array.from({ length: 7 }, () => works(namespace)));
        if (await works(namespace)) count += 1;
      }
      return count;
    };
    const before = await working();
    await server.kill();
    const meanwhile = await working();
    await server.restart();
    // The circuit breaker asks again after at most four seconds.
    let after = 0;
    for (let attempt = 0; attempt < 10 && after < NAMESPACES.length; attempt++) {
      await pause(1_000);
      after = await working();
    }
    await engine.close();
    return [before, meanwhile, after];
  });
}

export const namespaceMoves: Harness = {
  name: "namespace moves",
  async run(size): Promise<readonly CheckResult[]> {
    const [moves, between] = [MOVES[size], BETWEEN[size]];
    const moved = await moveUnderWriters(moves, between);
    const { lost } = await moveUnderWriters(MOVES.quick, BETWEEN.quick, withoutPlaces);
    const [before, meanwhile, after] = await killOneStore();
    const ms = (duration: number): string => `${duration.toFixed(0)} ms`;
    return [
      {
        promise: "R1",
        what: "namespaces move between routed stores (two SQLite, one PostgreSQL) under 8 writers",
        tried: `${moves} moves, ${moved.acknowledged.toLocaleString("en")} acknowledged outcomes`,
        seen: `${moved.lost} lost, ${moved.doubled} counted twice; verify ${moved.isVerified ? "clean" : "not clean"}; longest run of a writer ${ms(moved.longestWait)}, longest move ${ms(moved.longestMove)}`,
        held: moved.lost === 0 && moved.doubled === 0 && moved.isVerified,
      },
      mutantResult({
        what: "writers go by a table of their own, and do not look where a namespace is",
        tried: `${MOVES.quick} moves`,
        seen: `${lost} lost outcomes seen`,
        held: lost > 0,
      }),
      {
        promise: "R7",
        what: "one of three routed stores dies: its own namespaces stop, the others are ranked and written",
        tried: `SIGKILL to a PostgreSQL server, ${NAMESPACES.length} namespaces`,
        seen: `${meanwhile} of ${before} go on meanwhile, ${after} afterwards`,
        held: before === 3 && meanwhile === 2 && after === 3,
      },
    ];
  },
};
