/**
 * Uniform numbers in (0, 1) that follow from a key alone: the n-th is a hash of the key and n, so equal keys give equal numbers
 * on every machine and nothing has to be remembered between calls. 32 bits each; not for secrets.
 */
export function keyedUniforms(key: readonly number[]): () => number {
  const words = new Uint32Array(Float64Array.from(key).buffer);
  let seed = words.length;
  for (const word of words) seed = mix(seed ^ mix(word));
  let counter = 0;
  return () => {
    counter = (counter + GOLDEN) >>> 0;
    return (mix(seed ^ mix(counter)) + 0.5) / 2 ** 32;
  };
}

/** 2³² divided by the golden ratio: multiples of it visit every 32-bit number before one comes again. */
const GOLDEN = 0x9e3779b9;

/** MurmurHash3's final mix: every input bit changes about half of the output's. */
function mix(value: number): number {
  let hash = value;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
