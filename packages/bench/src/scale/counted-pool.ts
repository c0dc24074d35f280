import type { PgClient, PgPool } from "@qavr/postgres";

/** What a store asked of its server. */
export interface Asked {
  /** Messages that waited for an answer. */
  roundTrips: number;
  /** States that rankings asked for. */
  rankedStates: number;
  /** States that commits asked for. */
  committedStates: number;
  /** Transactions that locked a head: all others needed no lock. */
  locked: number;
}

/** A pool that counts what goes through it; the store uses it like any other. */
export function countedPool(pool: PgPool): { readonly pool: PgPool; readonly asked: Asked } {
  const asked: Asked = { roundTrips: 0, rankedStates: 0, committedStates: 0, locked: 0 };
  const counted = (client: PgClient): PgClient => ({
    query(query) {
      const { text, values } = query;
      asked.roundTrips += 1;
      if (text.includes("for update")) asked.locked += 1;
      // The two statements that read states by their ids name them last.
      if (text.includes("with ordinality")) {
        const ids = (values?.at(-1) as readonly unknown[] | undefined)?.length ?? 0;
        if (text.includes("$2::uuid[]")) asked.committedStates += ids;
        else asked.rankedStates += ids;
      }
      return client.query(query);
    },
    release: (destroy) => client.release(destroy),
    on: (event, listener) => client.on(event, listener),
    removeListener: (event, listener) => client.removeListener(event, listener),
    ref: () => client.ref?.(),
    unref: () => client.unref?.(),
  });
  return { pool: { connect: async () => counted(await pool.connect()) }, asked };
}
