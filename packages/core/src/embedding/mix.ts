/** Integer finaliser: neighbouring inputs give unrelated bits, and every process gives the same ones. 32 bits in, 32 bits out, unsigned. */
export function mix(input: number): number {
  let x = Math.imul(input, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
