import { QavrError } from "@qavr/core";
import type { ResolvedOptions } from "../postgres-options.js";
import type { PgClient, PgPool } from "./pg-pool.js";
import { isRefusedParameter } from "./postgres-errors.js";

/** The store's own pool, which is opened by its first use. */
export interface OwnPool extends PgPool {
  /**
   * Whether sessions begin with the store's limits for statements. Poolers in front of a server refuse them, since they lend one session
   * to many: what runs there needs a transaction to be limited.
   */
  readonly limitsSessions: boolean;
  end(): Promise<void>;
}

/** `Pool` of `pg`. */
type Pool = PgPool & { end(): Promise<void> };

export function ownPool(connectionString: string, options: ResolvedOptions): OwnPool {
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
      // Of the pool that is waited for: another one may be asked for meanwhile.
      const limited = limitsSessions;
      const pool = await opened();
      try {
        return await pool.connect();
      } catch (error) {
        if (!limited || !isRefusedParameter(error)) throw error;
      }
      // Of several that are refused at once the first one opens the other pool.
      if (limitsSessions) {
        limitsSessions = false;
        opening = undefined;
        void pool.end();
      }
      return (await opened()).connect();
    },

    async end() {
      // A pool that nothing used was never opened; one that could not be opened is not there.
      await (await opening?.catch(() => undefined))?.end();
    },
  };
}

/** Silence before the other side is asked whether it is still there, ms. */
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
    // Listening keeps one for itself.
    max: maxConnections + (listen ? 1 : 0),
    connectionTimeoutMillis: connectTimeout,
    ...(limited ? { statement_timeout: statementTimeout, lock_timeout: lockTimeout } : {}),
    application_name: "qavr",
    // A network that has lost a connection never says so by itself, and an erasure may be waited for for an hour.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced by the next use.
  pool.on("error", () => {});
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
