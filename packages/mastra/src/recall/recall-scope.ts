import { AsyncLocalStorage } from "node:async_hooks";
import type { QueryPlan } from "./ranked-query.js";

/**
 * What a vector query that Mastra makes on behalf of a recall belongs to. Mastra hands no run to the vector store; outside such a
 * scope the store is asked as it is.
 */
export const recallScopes: AsyncLocalStorage<QueryPlan> = new AsyncLocalStorage();
