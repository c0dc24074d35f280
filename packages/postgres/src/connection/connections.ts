import { createHash } from "node:crypto";
import { QavrError } from "@qavr/core";
import type { ResolvedOptions } from "../postgres-options.js";
import { decoding } from "./decode-value.js";
import { ownPool, type ServerChoice } from "./own-pool.js";
import type { PgClient, PgPool, PgResult } from "./pg-pool.js";
import { isConnectionLoss, isOutdatedSession } from "./postgres-errors.js";

/** Timeouts, in ms. */
export interface Limits {
  /** Waiting for the lock of another session. */
  readonly lockTimeout: number;
  readonly statementTimeout: number;
}

/** A statement with place-holders, and the name that it is prepared under, unless a list of its values is long. */
export interface Statement {
  readonly text: string;
  readonly name: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** A connection in use. */
export interface Connection {
  /** Runs a statement and returns its rows. */
  rows(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs statements without values in one round trip, and returns the rows of the last one. */
  script(text: string): Promise<readonly Row[]>;
  /** Listens to notifications while the connection is in use; meanwhile it does not keep the process alive. */
  onNotification(listener: (payload: string) => void): void;
  onLoss(listener: () => void): void;
  /** Sets how long the server may be silent from now on, ms. */
  allowSilence(timeout: number): void;
  /** Marks the connection to be destroyed when it is released. */
  discard(): void;
}

/** Limits of one use of a connection. */
export interface Usage extends ServerChoice {
  /** How long the server may be silent, ms. @default from the options */
  readonly timeout?: number;
  /** True for work that closing the store does not wait for. @default false */
  readonly lasting?: boolean;
}

/** A source of connections. */
export interface Connections {
  /**
   * Runs `work` on a connection and releases it, or destroys a broken one. Repeats it once, on a new connection, when the session has
   * become useless: it leads to a read-only server, or has lost its prepared statements.
   *
   * @throws STORE_CLOSED for lasting work after {@link giveUp}
   */
  use<Result>(work: (connection: Connection) => Promise<Result>, usage?: Usage): Promise<Result>;
  /** True for one of the servers that answered when it was asked last. Missing where there is only one. */
  readonly reaches?: ((node: string) => boolean) | undefined;
  /** Breaks the connections of lasting work, and refuses new lasting work. */
  giveUp(): void;
  /**
   * True when the server limits statements outside transactions; assumed of an application's pool. May change by connecting.
   */
  readonly limitsSessions: boolean;
  /** Ends the store's own pool. */
  close(): Promise<void>;
}

/** Lets the server's own timeout, whose error is more exact, come first. ms */
const GRACE = 500;
/** Longest time of the platform's timers, ms: longer ones fire at once. */
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Length of a list of values from which on a statement is planned anew: a session that planned it while its tables were empty, as after an
 * erasure, would read them whole for each value, until the server's next `analyze`. Planning takes 0.3 ms, 100 values take several times that.
 */
const PLANNED_ANEW = 100;

/** Client-side timeout for an answer, ms. */
function timeoutFor(timeout: number): number {
  return Math.min(timeout + GRACE, MAX_TIMER);
}

export function statement(text: string): Statement {
  const flat = text.replace(/\s+/g, " ").trim();
  return { text: flat, name: `qavr-${createHash("sha256").update(flat).digest("hex").slice(0, 16)}` };
}

/** How long the server may be silent in usual work, ms. */
export function usualSilence({ lockTimeout, statementTimeout }: Limits): number {
  return Math.max(lockTimeout, statementTimeout);
}

/** Connections of the application's pool, or of an own pool that the first use opens. */
export function connections(source: PgPool | string, options: ResolvedOptions): Connections {
  const own = typeof source === "string" ? ownPool(source, options) : undefined;
  const pool = own ?? (source as PgPool);
  const usual = usualSilence(options);

  /** Connections that were used before. */
  const known = new WeakSet<PgClient>();
  /** Breaks the connections of lasting work. */
  const breaks = new Set<() => void>();
  let givenUp = false;

  /** @param onlyNew destroys connections that were used before */
  const take = async (onlyNew: boolean, usage: Usage): Promise<PgClient> => {
    for (;;) {
      const client = await (own ? own.connect(usage) : pool.connect());
      if (!onlyNew || !known.has(client)) {
        known.add(client);
        return client;
      }
      client.on("error", () => {});
      client.release(true);
    }
  };

  const useOne = async <Result>(
    client: PgClient,
    work: (connection: Connection) => Promise<Result>,
    { timeout = usual, lasting = false }: Usage,
  ): Promise<Result> => {
    if (lasting && givenUp) {
      client.release();
      throw closed(options.place);
    }
    // A broken connection emits an error event, which without a listener would end the process.
    let lost = false;
    const losses: (() => void)[] = [];
    const onError = (): void => {
      lost = true;
      for (const listener of losses) listener();
    };
    client.on("error", onError);
    let hear: ((event: { payload?: string }) => void) | undefined;
    const query = { types: decoding, query_timeout: timeoutFor(timeout) };
    const breakOff = (): void => {
      breaks.delete(breakOff);
      client.release(true);
    };
    if (lasting) breaks.add(breakOff);
    try {
      return await work({
        rows: async ({ text, name }, values) => {
          const isLong = values.some((value) => Array.isArray(value) && value.length >= PLANNED_ANEW);
          const named = options.prepare && !isLong ? { name } : {};
          return rowsOf(await client.query({ ...query, ...named, text, values: [...values] }));
        },
        script: async (text) => rowsOf(await client.query({ ...query, text })),
        onNotification(listener) {
          hear = ({ payload }) => listener(payload ?? "");
          client.on("notification", hear);
          client.unref?.();
        },
        onLoss: (listener) => void losses.push(listener),
        allowSilence(ms) {
          query.query_timeout = timeoutFor(ms);
        },
        discard() {
          lost = true;
        },
      });
    } catch (error) {
      lost ||= isConnectionLoss(error) || isOutdatedSession(error);
      throw error;
    } finally {
      if (hear) {
        client.removeListener("notification", hear);
        client.ref?.();
      }
      // A connection that was broken off is released already.
      if (!lasting || breaks.delete(breakOff)) giveBack(client, onError, lost);
    }
  };

  return {
    async use(work, usage = {}) {
      if (usage.lasting && givenUp) throw closed(options.place);
      try {
        return await useOne(await take(false, usage), work, usage);
      } catch (error) {
        if (!isOutdatedSession(error)) throw error;
        // The server did nothing for a refused session. Other connections of the pool may be as old as this one.
        return useOne(await take(true, usage), work, usage);
      }
    },

    reaches: own?.reaches,

    giveUp() {
      givenUp = true;
      for (const breakOff of [...breaks]) breakOff();
    },

    get limitsSessions() {
      return own?.limitsSessions ?? true;
    },

    async close() {
      await own?.end();
    },
  };
}

function closed(place: string): QavrError {
  return new QavrError(
    "STORE_CLOSED",
    `The ledger in ${place} was closed before this call ended. The call changed nothing: open the ledger again and repeat it.`,
    { details: { place } },
  );
}

function giveBack(client: PgClient, onError: () => void, lost: boolean): void {
  if (lost) {
    client.release(true);
    return;
  }
  client.removeListener("error", onError);
  client.release();
}

/** Rows of the last statement. */
function rowsOf(result: PgResult | PgResult[]): readonly Row[] {
  return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
}
