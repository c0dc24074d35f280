import type { MastraVector, QueryResult, QueryVectorParams } from "@mastra/core/vector";
import { rankedQuery } from "./ranked-query.js";
import { recallScopes } from "./recall-scope.js";

/**
 * The same vector store, except that what a recall asks it for comes in learned order. A proxy and not a subclass: the store
 * keeps its class, its id, its private fields and whatever else it can do.
 */
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
  return new Proxy(inner, {
    get(target, name) {
      if (name === "query") return (params: QueryVectorParams) => query(params, ask);
      const value: unknown = Reflect.get(target, name, target);
      // A class that is bound has another name.
      return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
    },
  });
}
