import { storableId as storable } from "@qavr/core/adapter";

export { storable };

/** The alias of a thread's latest run. */
export function threadAlias(threadId: string): string {
  return storable(`thread:${threadId}`);
}

/** The alias of a trace. */
export function traceAlias(traceId: string): string {
  return storable(`trace:${traceId}`);
}

/** The alias of a suspended run's episode. Only the same run on the same thread finds it. */
export function suspensionAlias(threadId: string, runId: string): string {
  return storable(`suspended:${runId}:${threadId}`);
}
