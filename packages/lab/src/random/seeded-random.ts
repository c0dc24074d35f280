/** Uniform numbers in [0, 1) from a seed: same seed, same sequence, on every platform. */
export type Random = () => number;

/**
 * A small counter-based generator (mulberry32): a Weyl sequence whose every step is scrambled. Its period of 2^32 and its
 * quality are ample for simulations and useless for secrets.
 *
 * @param seed any integer; neighbouring seeds give unrelated sequences.
 */
export function seededRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * The uniform number that belongs to a seed and a place, without a sequence in between: what one arm of a comparison draws
 * there does not depend on what it drew before (common random numbers).
 *
 * @param place any integers: a request's number, a memory's number, …
 * @returns a number in [0, 1)
 */
export function uniformAt(seed: number, ...place: readonly number[]): number {
  let hash = Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b;
  for (const coordinate of place) hash = scramble(hash ^ Math.imul(coordinate, 0xc2b2ae35)) + 0x27d4eb2f;
  return (scramble(hash) >>> 0) / 4_294_967_296;
}

/** A standard normal number by Box and Muller. */
export function normal(random: Random): number {
  // 1 − u lies in (0, 1], which keeps the logarithm finite.
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

/** Shuffles in place (Fisher and Yates) and returns the same array. */
export function shuffle<T>(items: T[], random: Random): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const moved = items[last] as T;
    items[last] = items[other] as T;
    items[other] = moved;
  }
  return items;
}

/** The 32-bit finaliser of MurmurHash3: every input bit reaches every output bit. */
function scramble(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
