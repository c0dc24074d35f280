import type { PgClient, PgPool, PgQuery } from "../../src/index.js";

type Answer = ReturnType<PgClient["query"]>;

/** A pool whose statements go through `intercept`, which may look at them, send them late or not at all. */
export function interceptedPool(pool: PgPool, intercept: (sent: PgQuery, send: () => Answer) => Answer): PgPool {
  return {
    async connect() {
      const client = await pool.connect();
      return {
        query: (sent) => intercept(sent, () => client.query(sent)),
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      };
    },
  };
}
