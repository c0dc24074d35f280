/**
 * The bytes that a decoded draft lies in, if its vectors still stand where encoding would put them, one after the other from `start`:
 * then only its numbers need to be written again. Undefined otherwise.
 *
 * @param length of all bytes
 */
export function bytesAround(
  length: number,
  start: number,
  first: Float32Array,
  second: Float32Array,
): Uint8Array<ArrayBufferLike> | undefined {
  const { buffer } = first;
  const stand =
    buffer.byteLength === length &&
    second.buffer === buffer &&
    first.byteOffset === start &&
    second.byteOffset === start + first.byteLength;
  return stand ? new Uint8Array(buffer) : undefined;
}
