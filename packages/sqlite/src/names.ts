/** Names are kept as UTF-8 bytes; see MIGRATIONS for why. A byte order mark is part of the name. */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function nameToBytes(name: string): Uint8Array {
  return encoder.encode(name);
}

/** @throws TypeError for bytes that are no UTF-8: the row is damaged. */
export function bytesToName(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
