import type { MastraVector, QueryResult, QueryVectorParams } from "@mastra/core/vector";
import { withMembers } from "../with-members.js";
import { rankedQuery } from "./ranked-query.js";
import { recallScopes } from "./recall-scope.js";

/** The same vector store, except that what a recall asks it for comes in learned order. */
export function rerankingVector<Vector extends MastraVector>(inner: Vector): Vector {
  return proxyVector(inner, (params, ask) => {
    const plan = recallScopes.getStore();
    return plan ? rankedQuery(plan, ask, params) : ask(params);
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
