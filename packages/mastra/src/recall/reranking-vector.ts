import { AsyncLocalStorage } from "node:async_hooks";
import type { MastraVector, QueryResult, QueryVectorParams } from "@mastra/core/vector";
import { withMembers } from "@qavr/core/adapter";
import type { Turns } from "../runs/turns.js";
import { type QueryPlan, rankedQuery } from "./ranked-query.js";

/**
 * The plan of the recall under way. Mastra passes no run to the vector store, so the queries of a recall find their plan here;
 * outside a recall the store is asked as it is.
 */
export const recallScopes: AsyncLocalStorage<QueryPlan> = new AsyncLocalStorage();

/** Key of the store that a memory has wrapped: another memory may be given the wrapped one, and would rank its results twice. */
const WRAPPED: unique symbol = Symbol.for("qavr.mastra.vector") as never;

/** The same vector store; queries of a recall return results in learned order, and embedded messages are noted. */
export function rerankingVector<Vector extends MastraVector>(
  given: Vector & { readonly [WRAPPED]?: Vector },
  turns: Turns,
): Vector {
  const inner = given[WRAPPED] ?? given;
  const ranking = proxyVector(inner, (params, ask) => {
    const plan = recallScopes.getStore();
    return plan ? rankedQuery(plan, ask, params) : ask(params);
  });
  return withMembers(ranking, {
    [WRAPPED]: inner,
    async upsert(params: Parameters<MastraVector["upsert"]>[0]) {
      const ids = await inner.upsert(params);
      turns.embedded(params.indexName, params.metadata?.map((entry) => entry?.message_id) ?? []);
      return ids;
    },
  });
}

/** A vector store with another `query`. */
export function proxyVector<Vector extends MastraVector>(
  inner: Vector,
  query: (
    params: QueryVectorParams,
    ask: (params: QueryVectorParams) => Promise<QueryResult[]>,
  ) => Promise<QueryResult[]>,
): Vector {
  const ask = (params: QueryVectorParams): Promise<QueryResult[]> => inner.query(params);
  return withMembers(inner, { query: (params: QueryVectorParams) => query(params, ask) });
}
