import { seededRandom, shuffle } from "../random/seeded-random.js";
import { type Interval, interval, median } from "../statistics/interval.js";

/** Something to time: `prepare` and `finish` happen outside the clock. */
export interface Measured<Input = unknown> {
  readonly name: string;
  /** Makes what one timed call needs. */
  prepare?(query: number): Input | Promise<Input>;
  /** The timed part; `query` runs through 0 … turns − 1 once per round. A promise is awaited inside the clock. */
  run(query: number, input: Input): unknown;
  /** Cleans up after a timed call. */
  finish?(result: unknown, query: number): unknown;
}

export interface MeasureOptions {
  /** Rounds of `turns` calls each; a ratio's interval is over rounds. @default 12 */
  readonly rounds?: number;
  /** Calls of every part per round. @default 200 */
  readonly turns?: number;
  /** Rounds before the clock counts. @default 3 */
  readonly warmup?: number;
  readonly onProgress?: (share: number) => void;
}

/** Enough to see a large change. */
export const LOOK: MeasureOptions = { rounds: 4, turns: 60, warmup: 1 };

/** Medians in µs of one part: one per round, and over all calls. */
export interface Measurement {
  readonly name: string;
  readonly median: number;
  readonly p95: number;
  readonly rounds: readonly number[];
  readonly calls: number;
}

/**
 * Times parts side by side in one process: every turn runs all of them in a fresh random order, each on a query of its own, so
 * that a busy machine, a neighbour's leavings in the caches or a garbage collection hits all alike, and no part finds its
 * query warm. Trust ratios and medians; tails are the machine's.
 */
export async function measureInterleaved(
  parts: readonly Measured[],
  { rounds = 12, turns = 200, warmup = 3, onProgress }: MeasureOptions = {},
): Promise<readonly Measurement[]> {
  const samples = parts.map(() => Array.from({ length: rounds }, (): number[] => []));
  const random = seededRandom(1);
  const order = [...parts.keys()];
  const stride = Math.max(1, Math.floor(turns / parts.length));
  for (let round = -warmup; round < rounds; round++) {
    for (let turn = 0; turn < turns; turn++) {
      for (const place of shuffle(order, random)) {
        const spent = await time(parts[place] as Measured, (turn + place * stride) % turns);
        samples[place]?.[round]?.push(spent);
      }
    }
    onProgress?.((round + warmup + 1) / (rounds + warmup));
  }
  return parts.map(({ name }, place) => {
    const all = (samples[place] as number[][]).flat();
    const sorted = [...all].sort((a, b) => a - b);
    return {
      name,
      median: median(all),
      p95: sorted[Math.floor(0.95 * sorted.length)] as number,
      rounds: (samples[place] as number[][]).map(median),
      calls: all.length,
    };
  });
}

/** How many times longer one part takes than another: the ratio of their medians in each round, with its 95 % interval. */
export function ratio(numerator: Measurement, denominator: Measurement): Interval {
  return interval(numerator.rounds.map((spent, round) => spent / (denominator.rounds[round] as number)));
}

/** µs of one call. */
async function time(part: Measured, query: number): Promise<number> {
  const input = await part.prepare?.(query);
  const started = performance.now();
  let result = part.run(query, input);
  // Awaiting costs a turn of the loop, so only promises are awaited: a synchronous part is timed without one.
  if (result instanceof Promise) result = await result;
  const spent = (performance.now() - started) * 1000;
  await part.finish?.(result, query);
  return spent;
}
