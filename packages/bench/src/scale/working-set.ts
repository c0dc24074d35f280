/** Rows of one kind in a table: so many per namespace, each touched by this share of the namespace's outcomes. */
export interface RowKind {
  readonly perNamespace: number;
  /** Mean touches of one such row per outcome of its namespace, ≥ 0. */
  readonly touched: number;
}

/**
 * Pages of a table that at least one of `draws` outcomes touches, where the rows of all namespaces lie mixed, `k` to a page:
 *
 *     D = P · (1 − m^k),   m = mean over rows of e^(−draws · p_i · touched)
 *
 * A page stays untouched if none of its rows is touched; m is the chance of that for a random row, with touches as a Poisson
 * process. P pages hold all rows. The same formula says how many rows are touched (k = 1).
 *
 * @param shares of the traffic by namespace, sum 1
 * @param rowsPerPage k > 0; rows that a page holds for longer than it is touched count alike
 */
export function touchedPages(
  shares: Float64Array,
  kinds: readonly RowKind[],
  rowsPerPage: number,
  draws: number,
): number {
  let [rows, untouched] = [0, 0];
  for (const { perNamespace, touched } of kinds) {
    rows += perNamespace * shares.length;
    let sum = 0;
    for (const share of shares) sum += Math.exp(-draws * share * touched);
    untouched += perNamespace * sum;
  }
  if (rows === 0) return 0;
  return (rows / rowsPerPage) * (1 - (untouched / rows) ** rowsPerPage);
}

/** What a cache of least recently used things holds. */
export interface CacheUse {
  /** Bytes of each namespace that was used lately. */
  readonly perNamespace: number;
  /** Bytes that each outcome adds on top and that nobody asks for again. */
  readonly perOutcome: number;
  readonly capacity: number;
}

/**
 * Outcomes after which a cached namespace that nobody used is gone: the root t of
 *
 *     perNamespace · Σ_i (1 − e^(−p_i t)) + perOutcome · t = capacity
 *
 * Che's approximation: a thing is in the cache if it was used within the characteristic time (Che, Tung and Wang, "Hierarchical Web
 * Caching Systems", 2002; Fricker, Robert and Roberts, 2012, say why it is so close).
 *
 * @returns Infinity when everything fits
 */
export function characteristicTime(shares: Float64Array, { perNamespace, perOutcome, capacity }: CacheUse): number {
  const held = (time: number): number => perNamespace * visited(shares, time) + perOutcome * time;
  if (perOutcome <= 0 && perNamespace * shares.length <= capacity) return Number.POSITIVE_INFINITY;
  // No outcome holds more than a namespace and what it adds.
  let low = capacity / (perNamespace + perOutcome);
  let high = low;
  while (held(high) < capacity) high *= 2;
  while (high - low > 1e-3 * high) {
    const middle = (low + high) / 2;
    if (held(middle) < capacity) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Different namespaces among so many outcomes: Σ_i 1 − e^(−p_i draws). */
export function visited(shares: Float64Array, draws: number): number {
  let sum = 0;
  for (const share of shares) sum -= Math.expm1(-share * draws);
  return sum;
}

/**
 * Share of outcomes whose namespace was used within the last `time` outcomes: Σ_i p_i (1 − e^(−p_i time)). With the characteristic time
 * of a cache its share of hits; with a smaller one, that of a process which has seen only so many outcomes so far.
 */
export function hitShare(shares: Float64Array, time: number): number {
  if (time === Number.POSITIVE_INFINITY) return 1;
  let sum = 0;
  for (const share of shares) sum -= share * Math.expm1(-share * time);
  return sum;
}

/** Mean share of hits over the outcomes `from` to `to` of a process that began with an empty cache. */
export function meanHitShare(shares: Float64Array, time: number, from: number, to: number): number {
  const steps = 16;
  let sum = 0;
  for (let step = 0; step < steps; step++) {
    const seen = from + ((step + 0.5) / steps) * (to - from);
    sum += hitShare(shares, Math.min(seen, time));
  }
  return sum / steps;
}
