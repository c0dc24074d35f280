import { createHash } from "node:crypto";
import { QavrError } from "@qavr/core";
import type { ResolvedOptions } from "../postgres-options.js";
import { decoding } from "./decode-value.js";
import { ownPool } from "./own-pool.js";
import type { PgClient, PgPool, PgResult } from "./pg-pool.js";
import { isConnectionLoss, isOutdatedSession } from "./postgres-errors.js";
import type { Limits } from "./transaction.js";

/** One statement with its place-holders, under a name to prepare it by. */
export interface Statement {
  readonly text: string;
  readonly name: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** A connection that is taken. */
export interface Connection {
  /** Rows of a statement. */
  rows(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs statements without values in one round trip, and returns the rows of the last one. */
  script(text: string): Promise<readonly Row[]>;
  /** Hears notifications for as long as the connection is taken; meanwhile it does not keep the process alive. */
  onNotification(listener: (payload: string) => void): void;
  onLoss(listener: () => void): void;
  /** From here on the server may be silent for this long, ms. */
  allowSilence(timeout: number): void;
  /** Has it thrown away when it is given back. */
  discard(): void;
}

/** What a connection is taken for. */
export interface Usage {
  /** How long the server may be silent, ms. @default what the options say */
  readonly timeout?: number;
  /** May take longer than anybody waits who closes the store. @default false */
  readonly lasting?: boolean;
}

/** Where connections come from. */
export interface Connections {
  /**
   * Runs `work` on a connection and gives it back, or throws it away if it broke. Once more, on a new one, if the session has become
   * useless: it leads to a server that may only be read, or has forgotten what was prepared.
   *
   * @throws STORE_CLOSED for lasting work after {@link giveUp}
   */
  use<Result>(work: (connection: Connection) => Promise<Result>, usage?: Usage): Promise<Result>;
  /** Breaks the connections of lasting work, and lets none begin any more. */
  giveUp(): void;
  /**
   * Whether the server limits statements outside transactions. On an application's pool that is the application's affair. May change by
   * connecting.
   */
  readonly limitsSessions: boolean;
  /** Ends what the store has opened by itself. */
  close(): Promise<void>;
}

/** The server's own timeout should speak first: what it says is more exact. ms */
const GRACE = 500;
/** Longest time that the platform's timers understand, ms: beyond it they fire at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** How long to wait for an answer that the server may take so long for, ms. */
function patienceFor(timeout: number): number {
  return Math.min(timeout + GRACE, MAX_TIMER);
}

export function statement(text: string): Statement {
  const flat = text.replace(/\s+/g, " ").trim();
  return { text: flat, name: `qavr-${createHash("sha256").update(flat).digest("hex").slice(0, 16)}` };
}

/** How long the server may be silent unless it was asked for something that takes long, ms. */
export function usualSilence({ lockTimeout, statementTimeout }: Limits): number {
  return Math.max(lockTimeout, statementTimeout);
}

/** Connections of the application's pool, or of one that is opened by the first use. */
export function connections(source: PgPool | string, options: ResolvedOptions): Connections {
  const own = typeof source === "string" ? ownPool(source, options) : undefined;
  const pool = own ?? (source as PgPool);
  const usual = usualSilence(options);

  /** Connections that were taken before. */
  const known = new WeakSet<PgClient>();
  /** Breaks the connections of lasting work. */
  const breaks = new Set<() => void>();
  let givenUp = false;

  /** @param onlyNew throws those away that were there before */
  const take = async (onlyNew: boolean): Promise<PgClient> => {
    for (;;) {
      const client = await pool.connect();
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
    // A taken connection that breaks says so by an event, and an event that nobody hears ends the process.
    let lost = false;
    const losses: (() => void)[] = [];
    const onError = (): void => {
      lost = true;
      for (const listener of losses) listener();
    };
    client.on("error", onError);
    let hear: ((event: { payload?: string }) => void) | undefined;
    const query = { types: decoding, query_timeout: patienceFor(timeout) };
    const breakOff = (): void => {
      breaks.delete(breakOff);
      client.release(true);
    };
    if (lasting) breaks.add(breakOff);
    try {
      return await work({
        rows: async ({ text, name }, values) => {
          const named = options.prepare ? { name } : {};
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
          query.query_timeout = patienceFor(ms);
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
      // What was broken off was given back by that.
      if (!lasting || breaks.delete(breakOff)) giveBack(client, onError, lost);
    }
  };

  return {
    async use(work, usage = {}) {
      if (usage.lasting && givenUp) throw closed(options.place);
      try {
        return await useOne(await take(false), work, usage);
      } catch (error) {
        if (!isOutdatedSession(error)) throw error;
        // Of what the server refused for the session's sake nothing was done. Others of the pool may be as old as this one.
        return useOne(await take(true), work, usage);
      }
    },

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
    `The ledger in ${place} was closed before this was done, and it was given up. It changed nothing: open the ledger again and repeat it.`,
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

/** Of several statements, the last one's. */
function rowsOf(result: PgResult | PgResult[]): readonly Row[] {
  return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
}
