/** First 32 bits of the fractional parts of the roots of the first primes: square roots for the state, cube roots for the rounds. */
const PRIMES: readonly number[] = Array.from({ length: 312 }, (_, n) => n).filter(
  (n) => n > 1 && !Array.from({ length: n - 2 }, (_, d) => d + 2).some((d) => n % d === 0),
);
const fraction = (root: number): number => (root % 1) * 2 ** 32;
const encoder = new TextEncoder();
const FIRST: Int32Array = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)) | 0);
const ROUNDS: Int32Array = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)) | 0);

/**
 * SHA-256 (FIPS 180-4) of a text's UTF-8, as 64 hexadecimal digits. Ids are made of it, so that it must be the same in all versions
 * on all platforms: Web Crypto answers later, Node's is not everywhere, and the `sha256` of @langchain/core gives other digests.
 */
export function sha256(text: string): string {
  const bytes = encoder.encode(text);
  const padded = new Uint8Array(((bytes.length + 8) & ~63) + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  const state = FIRST.slice();
  const schedule = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) compress(state, schedule, view, block);
  let digits = "";
  for (const word of state) digits += (word >>> 0).toString(16).padStart(8, "0");
  return digits;
}

/** Mixes the 64 bytes at `block` into the state. */
function compress(state: Int32Array, schedule: Int32Array, view: DataView, block: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(block + 4 * i);
  for (let i = 16; i < 64; i++) {
    const old = schedule[i - 15] as number;
    const late = schedule[i - 2] as number;
    const low = turned(old, 7) ^ turned(old, 18) ^ (old >>> 3);
    const high = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    schedule[i] = (schedule[i - 16] as number) + low + (schedule[i - 7] as number) + high;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const chosen = (e & f) ^ (~e & g);
    const mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = h + mixed + chosen + (ROUNDS[i] as number) + (schedule[i] as number);
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => {
    state[i] = (state[i] as number) + value;
  });
}

/** A 32-bit word turned right. */
function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
