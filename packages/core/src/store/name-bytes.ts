/** Databases keep names as UTF-8 bytes: their text types lose a NUL or refuse it, or compare by a collation. A byte order mark is part of the name. */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A name as the bytes that a database keeps. It must be well-formed, see {@link assertName}. */
export function nameToBytes(name: string): Uint8Array {
  return encoder.encode(name);
}

/** @throws TypeError for bytes that are no UTF-8: the row is damaged. */
export function bytesToName(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
