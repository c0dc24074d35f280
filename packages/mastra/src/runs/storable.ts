import { createHash } from "node:crypto";
import { storableId } from "@qavr/core/adapter";

/** The id under which a memory, thread or run is kept: its own, or its hash when a ledger could not keep it. */
export function storable(id: string): string {
  return storableId(id, (text) => createHash("sha256").update(text).digest("hex"));
}
