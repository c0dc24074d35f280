import { createHash } from "node:crypto";
import { nameToBytes } from "@qavr/core";

/**
 * A name as the first 16 bytes of its SHA-256, written as a UUID: what rows are keyed and distributed by. Short whatever the
 * name, which may fill an index page; known without asking the server, unlike a number from a sequence.
 */
export function nameId(name: string): string {
  const hex = createHash("sha256").update(nameToBytes(name)).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
