import { createHash } from "node:crypto";
import { storableId } from "@qavr/core/adapter";

/** The id under which a memory, thread or run is kept: its own, or its hash when a ledger cannot keep it. */
export function storable(id: string): string {
  return storableId(id, (text) => createHash("sha256").update(text).digest("hex"));
}

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
