import type { Engine } from "@qavr/core";
import type { Asked } from "./counted-pool.js";
import type { ServerMeter } from "./server-meter.js";
import { type Runs, rankOnce, runOnce, tenantName } from "./tenants.js";

/** What runs cost, per outcome. */
export interface Cost {
  /** CPU time of the application and of the server's processes, µs. */
  readonly app: number;
  readonly database: number;
  /** Of the server's log. */
  readonly walBytes: number;
  readonly asked: Asked;
}

/** Whole runs, from retrieval to outcome, of the tenants that `next` names. */
export interface PassOptions {
  readonly outcomes: number;
  readonly clients: number;
  next(): number;
  /** After so many outcomes as `every`. */
  readonly every?: number;
  onStep?(done: number): void;
}

/** Lets clients end runs, each one after the other, and says what that cost. */
export async function measurePass(
  meter: ServerMeter,
  engine: Engine,
  runs: Runs,
  asked: Asked,
  options: PassOptions,
): Promise<Cost> {
  const [wal, cpu, app] = [await meter.wal(), meter.cpu(), process.cpuUsage()];
  const before = { ...asked };
  await drive(options, (tenant) => runOnce(engine, tenantName(tenant), runs));
  const spent = process.cpuUsage(app);
  const { outcomes } = options;
  const perOutcome = (sum: number): number => sum / outcomes;
  return {
    app: perOutcome(spent.user + spent.system),
    database: perOutcome(meter.cpu() - cpu),
    walBytes: perOutcome((await meter.wal()).bytes - wal.bytes),
    asked: {
      roundTrips: perOutcome(asked.roundTrips - before.roundTrips),
      rankedStates: perOutcome(asked.rankedStates - before.rankedStates),
      committedStates: perOutcome(asked.committedStates - before.committedStates),
      locked: perOutcome(asked.locked - before.locked),
    },
  };
}

async function drive(
  { outcomes, clients, next, every = outcomes, onStep }: PassOptions,
  run: (tenant: number) => Promise<unknown>,
): Promise<void> {
  let [begun, done] = [0, 0];
  const client = async (): Promise<void> => {
    while (begun < outcomes) {
      begun += 1;
      await run(next());
      done += 1;
      if (done % every === 0) onStep?.(done);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Mean times of one caller that waits for each answer, µs. */
export interface Latency {
  readonly ranking: number;
  readonly outcome: number;
}

export async function measureLatency(
  engine: Engine,
  runs: Runs,
  { outcomes, next }: Pick<PassOptions, "outcomes" | "next">,
): Promise<Latency> {
  let [ranking, outcome] = [0, 0];
  for (let run = 0; run < outcomes; run++) {
    const begun = performance.now();
    const episode = await rankOnce(engine, tenantName(next()), runs);
    const ranked = performance.now();
    await engine.end(episode, { reward: run % 2 === 0, tier: "verified" });
    ranking += ranked - begun;
    outcome += performance.now() - ranked;
  }
  return { ranking: (ranking * 1_000) / outcomes, outcome: (outcome * 1_000) / outcomes };
}

/** Outcomes per second of clients that go on for so many ms. */
export async function measureRate(
  engine: Engine,
  runs: Runs,
  { clients, duration, next }: { readonly clients: number; readonly duration: number; next(): number },
): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const client = async (): Promise<void> => {
    while (performance.now() - begun < duration) {
      await runOnce(engine, tenantName(next()), runs);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return done / ((performance.now() - begun) / 1_000);
}
