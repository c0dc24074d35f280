import { QavrError } from "@qavr/core";
import type { ResolvedOptions } from "../postgres-options.js";
import { type PgClient, type PgPool, serversOf } from "./pg-pool.js";
import { isConnectionLoss, isRefusedParameter } from "./postgres-errors.js";

/** Which of several servers to ask. */
export interface ServerChoice {
  /** True for the first one. @default false */
  readonly first?: boolean;
  /** Host and port of the one to prefer. */
  readonly node?: string | undefined;
}

/** The store's own pool, opened by its first use. */
export interface OwnPool extends PgPool {
  connect(choice?: ServerChoice): Promise<PgClient>;
  /** True for one of the servers that answered when it was asked last. Missing where there is only one. */
  reaches?(node: string): boolean;
  /**
   * True when sessions begin with the store's limits for statements. Poolers refuse them, since clients share a session; statements there
   * need a transaction to be limited.
   */
  readonly limitsSessions: boolean;
  end(): Promise<void>;
}

/** `Pool` of `pg`. */
type Pool = PgPool & { end(): Promise<void> };

/** Pause before a server that could not be reached is asked again, while there are others, ms. */
const REST = 1_000;

/** A pool of each server that the URL names. Connections go to the servers in turn, and past those that cannot be reached. */
export function ownPool(connectionString: string, options: ResolvedOptions): OwnPool {
  const servers = serversOf(connectionString);
  const pools = servers.map(({ url }) => poolOf(url, options));
  const [first, ...others] = pools as [OwnPool, ...OwnPool[]];
  if (others.length === 0) return first;
  const poolAt = (node: string | undefined): OwnPool | undefined =>
    pools[servers.findIndex((one) => one.node === node)];
  const restsUntil = new Map<OwnPool, number>();
  const isResting = (pool: OwnPool): boolean => (restsUntil.get(pool) ?? 0) > performance.now();
  // Processes that start together begin with different servers.
  let turn = Math.floor(Math.random() * pools.length);

  return {
    get limitsSessions() {
      return pools.every((pool) => pool.limitsSessions);
    },

    reaches(node) {
      const pool = poolAt(node);
      return pool !== undefined && !isResting(pool);
    },

    async connect({ first: onlyFirst = false, node } = {}) {
      if (onlyFirst) return first.connect();
      turn = (turn + 1) % pools.length;
      const own = poolAt(node);
      const rank = (pool: OwnPool): number => (isResting(pool) ? 2 : pool === own ? 0 : 1);
      const inTurn = [...pools.slice(turn), ...pools.slice(0, turn)].sort((a, b) => rank(a) - rank(b));
      let failure: unknown;
      for (const pool of inTurn) {
        try {
          return await pool.connect();
        } catch (error) {
          if (!isConnectionLoss(error)) throw error;
          restsUntil.set(pool, performance.now() + REST);
          failure = error;
        }
      }
      throw failure;
    },

    async end() {
      for (const pool of pools) await pool.end();
    },
  };
}

function poolOf(connectionString: string, options: ResolvedOptions): OwnPool {
  let limitsSessions = true;
  let opening: Promise<Pool> | undefined;
  const opened = (): Promise<Pool> => {
    opening ??= openPool(connectionString, options, limitsSessions).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };

  return {
    get limitsSessions() {
      return limitsSessions;
    },

    async connect(): Promise<PgClient> {
      // Noted before waiting: another call may replace the pool meanwhile.
      const limited = limitsSessions;
      const pool = await opened();
      try {
        return await pool.connect();
      } catch (error) {
        if (!limited || !isRefusedParameter(error)) throw error;
      }
      // Only the first of several refused calls replaces the pool.
      if (limitsSessions) {
        limitsSessions = false;
        opening = undefined;
        void pool.end();
      }
      return (await opened()).connect();
    },

    async end() {
      // The pool is missing if it was never used or could not be opened.
      await (await opening?.catch(() => undefined))?.end();
    },
  };
}

/** Silence before the first keep-alive probe, ms. */
const KEEP_ALIVE_DELAY = 10_000;

/** @throws STORE_UNAVAILABLE when `pg` is not installed */
async function openPool(
  connectionString: string,
  { maxConnections, listen, connectTimeout, statementTimeout, lockTimeout }: ResolvedOptions,
  limited: boolean,
): Promise<Pool> {
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString,
    // Listening uses one connection permanently.
    max: maxConnections + (listen ? 1 : 0),
    connectionTimeoutMillis: connectTimeout,
    ...(limited ? { statement_timeout: statementTimeout, lock_timeout: lockTimeout } : {}),
    application_name: "qavr",
    // A network does not report a lost connection, and an erasure may wait for an hour.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced by the next use.
  pool.on("error", () => {});
  // A last message of the server may arrive with the answer before it, when neither pool nor store listens to the connection.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool as unknown as Pool;
}

async function loadPg(): Promise<Pick<typeof import("pg"), "Pool">> {
  try {
    // Older versions have no named exports for ESM.
    const loaded = await import("pg");
    return loaded.default ?? loaded;
  } catch (cause) {
    throw new QavrError("STORE_UNAVAILABLE", "The package pg could not be loaded. Install it beside @qavr/postgres.", {
      details: { package: "pg" },
      cause,
    });
  }
}
