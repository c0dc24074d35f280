/** Values of the pool's buffer, beyond the first column: those of some ten rankings. */
const ROOM = 4_096;

let room = new Float64Array(0);
let used = 0;

/**
 * A column of zeros for one calculation, in a buffer that other columns share: a buffer of its own takes as long as scoring five
 * memories. A column that is kept keeps the whole buffer: copy what must stay.
 */
export function pooled(length: number): Float64Array {
  if (used + length > room.length) {
    room = new Float64Array(ROOM + length);
    used = 0;
  }
  used += length;
  return room.subarray(used - length, used);
}
