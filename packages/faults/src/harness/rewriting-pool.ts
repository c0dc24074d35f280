import type { PgPool } from "@qavr/postgres";
import type { Pool } from "pg";

/** A pool that sends other statements than it is given: what mutants of a store on a server are made from. */
export function rewritingPool(pool: Pool, rewrite: (text: string) => string): PgPool {
  return {
    async connect() {
      const client = await pool.connect();
      return {
        query: (sent) => client.query({ ...sent, text: rewrite(sent.text) }),
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event as "error", listener),
        removeListener: (event, listener) => client.removeListener(event as "error", listener),
      };
    },
  };
}

/** Commits do not wait for the disk, whatever the store asks for. */
export function withoutWaiting(text: string): string {
  return text.replace("'synchronous_commit', 'on'", "'qavr.ignored', ''");
}

/** Every statement is a transaction of its own. */
export function withoutTransactions(text: string): string {
  return text.replace(/^begin [a-z ]+;/, "");
}
