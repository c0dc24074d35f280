/** Remainders of all bytes by the polynomial 0xedb88320 (reflected), of IEEE 802.3 and zlib. */
const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

/**
 * CRC-32 as zlib computes it, an unsigned 32-bit number. It finds every single flipped bit, and every run of damaged bits up to 32.
 *
 * @param start checksum of bytes before these
 */
export function crc32(bytes: Uint8Array, start: number = 0): number {
  let remainder = ~start;
  for (let i = 0; i < bytes.length; i++) {
    remainder = (TABLE[(remainder ^ (bytes[i] as number)) & 0xff] as number) ^ (remainder >>> 8);
  }
  return ~remainder >>> 0;
}
