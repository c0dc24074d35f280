import { type Interval, interval, median, seededRandom, shuffle } from "@qavr/lab";

/** Something to time: `prepare` and `finish` happen outside the clock. */
export interface Measured<Input = unknown> {
  readonly name: string;
  /** Makes what one timed call needs. */
  prepare?(query: number): Input | Promise<Input>;
  /**
   * The timed part; `query` runs through 0 … turns − 1 once per round. A promise is awaited inside the clock. `mark(what)` notes the time
   * since the start: it becomes a measurement of its own, named `<name>: <what>`.
   */
  run(query: number, input: Input, mark: (what: string) => void): unknown;
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

/** Medians in µs of one part or mark: one per round, and over all calls. */
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
 *
 * @returns parts in their order, then marks
 */
export async function measureInterleaved(
  parts: readonly Measured[],
  { rounds = 12, turns = 200, warmup = 3, onProgress }: MeasureOptions = {},
): Promise<readonly Measurement[]> {
  const empty = (): number[][] => Array.from({ length: rounds }, () => []);
  const samples = new Map(parts.map(({ name }) => [name, empty()]));
  const note = (name: string, round: number, spent: number): void => {
    const own = samples.get(name) ?? empty();
    samples.set(name, own);
    own[round]?.push(spent);
  };
  const random = seededRandom(1);
  const order = [...parts.keys()];
  const stride = Math.max(1, Math.floor(turns / parts.length));
  for (let round = -warmup; round < rounds; round++) {
    for (let turn = 0; turn < turns; turn++) {
      for (const place of shuffle(order, random)) {
        const part = parts[place] as Measured;
        await time(part, (turn + place * stride) % turns, (name, spent) => note(name, round, spent));
      }
    }
    onProgress?.((round + warmup + 1) / (rounds + warmup));
  }
  return [...samples].map(([name, spent]) => measurement(name, spent));
}

function measurement(name: string, rounds: readonly (readonly number[])[]): Measurement {
  const sorted = rounds.flat().sort((a, b) => a - b);
  const p95 = sorted[Math.floor(0.95 * sorted.length)] as number;
  return { name, median: median(sorted), p95, rounds: rounds.map(median), calls: sorted.length };
}

/** How many times longer one part takes than another: the ratio of their medians in each round, with its 95 % interval. */
export function ratio(numerator: Measurement, denominator: Measurement): Interval {
  return interval(numerator.rounds.map((spent, round) => spent / (denominator.rounds[round] as number)));
}

/** Times one call and its marks, in µs. */
async function time(part: Measured, query: number, note: (name: string, spent: number) => void): Promise<void> {
  const input = await part.prepare?.(query);
  const marks: [what: string, at: number][] = [];
  const mark = (what: string): void => void marks.push([what, performance.now()]);
  const started = performance.now();
  let result = part.run(query, input, mark);
  // Awaiting costs a turn of the loop, so only promises are awaited: a synchronous part is timed without one.
  if (result instanceof Promise) result = await result;
  const ended = performance.now();
  for (const [what, at] of marks) note(`${part.name}: ${what}`, (at - started) * 1000);
  note(part.name, (ended - started) * 1000);
  await part.finish?.(result, query);
}
