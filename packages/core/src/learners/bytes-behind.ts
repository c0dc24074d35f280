/**
 * Bytes with two vectors behind the first `start`, which are the caller's to write. They are those that the vectors lie in where these
 * stand in their places already, as a decoded draft's do; else a copy behind zeros.
 */
export function bytesBehind(start: number, first: Float32Array, second: Float32Array): Uint8Array<ArrayBufferLike> {
  const { buffer } = first;
  const length = start + first.byteLength + second.byteLength;
  const stand =
    buffer.byteLength === length &&
    second.buffer === buffer &&
    first.byteOffset === start &&
    second.byteOffset === start + first.byteLength;
  if (stand) return new Uint8Array(buffer);
  const bytes = new Uint8Array(length);
  const values = new Float32Array(bytes.buffer, start);
  values.set(first);
  values.set(second, first.length);
  return bytes;
}
