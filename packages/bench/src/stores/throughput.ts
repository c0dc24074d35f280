import { type Interval, interval, median } from "@qavr/lab";

/** A way of recording outcomes. */
export interface ThroughputCase {
  readonly name: string;
  /** Name of the case that does the least that could be done for the same: its rate is this one's measure. */
  readonly floor?: string;
  /** How many commit at the same time, and outcomes per commit. */
  readonly clients: number;
  readonly batch: number;
  commit(client: number, batch: number): Promise<unknown>;
}

/** Outcomes per second of one case: the middle round, and the ratio to its floor in the same rounds. */
export interface Throughput {
  readonly name: string;
  readonly clients: number;
  readonly batch: number;
  readonly rate: number;
  readonly rounds: readonly number[];
  /** Middle time of one commit, ms. */
  readonly latency: number;
  readonly floor?: string;
  readonly ratio?: Interval;
}

export interface ThroughputOptions {
  readonly rounds: number;
  /** Of each case in each round, ms. */
  readonly duration: number;
  readonly onProgress?: (share: number) => void;
}

/**
 * Lets every case record outcomes as fast as its clients can, each client one commit after the other. Round by round, all cases in
 * turn, so that a busy machine hits all alike; one round more, before the others, is not counted.
 */
export async function measureThroughput(
  cases: readonly ThroughputCase[],
  { rounds, duration, onProgress }: ThroughputOptions,
): Promise<readonly Throughput[]> {
  const rates = cases.map((): number[] => []);
  const latencies = cases.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [place, one] of cases.entries()) {
      const { rate, spent } = await runFor(one, duration);
      if (round < 0) continue;
      rates[place]?.push(rate);
      latencies[place]?.push(...spent);
    }
    onProgress?.((round + 2) / (rounds + 1));
  }
  return cases.map(({ name, floor, clients, batch }, place) => {
    const own = rates[place] as number[];
    const base = rates[cases.findIndex((other) => other.name === floor)];
    return {
      name,
      clients,
      batch,
      rate: median(own),
      rounds: own,
      latency: median(latencies[place] as number[]),
      ...(floor && base ? { floor, ratio: interval(own.map((rate, round) => rate / (base[round] as number))) } : {}),
    };
  });
}

async function runFor(
  { clients, batch, commit }: ThroughputCase,
  duration: number,
): Promise<{ readonly rate: number; readonly spent: readonly number[] }> {
  const started = performance.now();
  const spent: number[] = [];
  const client = async (place: number): Promise<void> => {
    while (performance.now() - started < duration) {
      const begun = performance.now();
      await commit(place, batch);
      spent.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, place) => client(place)));
  return { rate: (spent.length * batch) / ((performance.now() - started) / 1_000), spent };
}
