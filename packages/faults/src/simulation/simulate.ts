import { createHash } from "node:crypto";
import { createEngine, type Engine, QavrError } from "@qavr/core";
import { replay } from "@qavr/core/maintenance";
import { withOutbox } from "@qavr/core/store";
import { type Random, seededRandom } from "@qavr/lab";
import { type Mutant, SimulatedDisk, type Weather } from "./simulated-disk.js";
import { VirtualTime } from "./virtual-time.js";

const PROCESSES = 2;
const CLIENTS = 4;
const RUNS_PER_CLIENT = 4;
/** Small, so that it fills. */
const OUTBOX_CAP = 4;
/** Ms of virtual time: the faults end after the first, everybody must be through before the second. */
const STORM = 60_000;
const LIMIT = 1_800_000;
const START = 1_767_225_600_000;

/** Result of a seed. */
export interface Simulated {
  readonly seed: number;
  /** Hexadecimal; the same seed gives the same. */
  readonly trace: string;
  /** The broken promise, undefined when all held. */
  readonly broken: string | undefined;
  /** How much happened. */
  readonly crashes: number;
  readonly queued: number;
  readonly degraded: number;
  readonly retries: number;
}

/** A process: an engine that may die at any moment, and its successor. */
interface Process {
  engine: Engine;
  dead: { yes: boolean };
}

/**
 * One history: four clients end their runs through two processes that share a ledger and an outbox, while the network fails, hangs and
 * loses answers, clocks jump, and processes die. Then the weather clears, and all promises are held against what is durable.
 */
export async function simulate(seed: number, mutant?: Mutant): Promise<Simulated> {
  const random = seededRandom(seed);
  const time = new VirtualTime();
  const disk = new SimulatedDisk(time, random, mutant);
  const hash = createHash("sha256");
  const trace = (...words: readonly unknown[]): void => {
    void hash.update(`${Math.round(time.now * 1_000)} ${words.join(" ")}\n`);
  };
  const count = { crashes: 0, queued: 0, degraded: 0, retries: 0 };
  let skew = 0;
  let ids = 0;

  const start = (): Process => {
    const dead = { yes: false };
    const isDead = (): boolean => dead.yes;
    const engine = createEngine({
      store: withOutbox(disk.store(isDead), disk.outbox(isDead, OUTBOX_CAP)),
      clock: () => START + time.now + skew,
      // A dead process has no timers.
      setTimer: (run, ms) =>
        mutant === "has no timeouts" ? () => undefined : time.setTimer(() => dead.yes || run(), ms),
      createId: () => `id-${seed}-${ids++}`,
      maxOpenEpisodes: 8,
    });
    return { engine, dead };
  };
  const processes = Array.from({ length: PROCESSES }, start);
  const acknowledged = new Map<string, string>();
  const problems: string[] = [];

  /** Ends one run, however often that takes. */
  const finish = async (run: string): Promise<void> => {
    const outcome = { reward: run.length % 2 === 0, idempotencyKey: run, source: "client" };
    let known: { readonly process: Process; readonly episode: string } | undefined;
    for (let attempt = 0; ; attempt++) {
      const process = processes[Math.floor(random() * PROCESSES)] as Process;
      // A client of a process that died gets no answer, and asks another one.
      const died = (async () => {
        while (!process.dead.yes) await time.sleep(500);
        return "died" as const;
      })();
      try {
        const answer = await Promise.race([
          died,
          attempt > 0 && random() < 0.7
            ? process.engine.report(run, outcome)
            : (async () => {
                const candidates = Array.from({ length: 6 }, (_, i) => ({ id: `m${i}`, similarity: 0.9 - i / 10 }));
                const same = known?.process === process && !process.dead.yes ? known.episode : undefined;
                const ranking = await process.engine
                  .rank({
                    candidates,
                    topK: 3,
                    vector: [1, run.length],
                    aliases: [run],
                    ...(same ? { episode: same } : {}),
                  })
                  .catch((error: unknown) => {
                    if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) return undefined;
                    problems.push(`a ranking threw ${String(error)}`);
                    return undefined;
                  });
                if (!ranking) return undefined;
                known = { process, episode: ranking.episode };
                if (new Set(ranking.items.map(({ id }) => id)).size !== 3) problems.push("a ranking is no selection");
                if (ranking.degraded) {
                  count.degraded += 1;
                  if (ranking.items.some(({ index }, place) => index !== place))
                    problems.push("degraded, and not the host's order");
                }
                await time.sleep(random() * 50);
                return process.engine.end(ranking.episode, outcome);
              })(),
        ]);
        if (typeof answer === "object" && answer.status !== "ignored") {
          trace(run, answer.status, answer.seq);
          acknowledged.set(run, answer.status);
          if (answer.status === "queued") count.queued += 1;
          return;
        }
      } catch (error) {
        if (!QavrError.isInstance(error)) throw error;
        trace(run, error.code);
        // The first outcome is in the ledger under another episode; it must not count twice.
        if (error.code === "IDEMPOTENCY_CONFLICT") return void acknowledged.set(run, "conflict");
      }
      count.retries += 1;
      await time.sleep(random() * 2_000);
    }
  };

  const storms = async (): Promise<void> => {
    while (time.now < STORM) {
      await time.sleep(random() * 4_000);
      disk.storeWeather = weather(random);
      disk.outboxWeather = random() < 0.3 ? weather(random) : { fails: 0, losesAnswer: 0, hangs: 0, delay: 2 };
      if (random() < 0.3) skew += (random() - 0.5) * 7_200_000;
      if (random() < 0.4) {
        const victim = Math.floor(random() * PROCESSES);
        (processes[victim] as Process).dead.yes = true;
        processes[victim] = start();
        count.crashes += 1;
        trace("crash", victim);
      }
    }
    disk.storeWeather = { fails: 0, losesAnswer: 0, hangs: 0, delay: 2 };
    disk.outboxWeather = disk.storeWeather;
  };

  const history = async (): Promise<void> => {
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let run = 0; run < RUNS_PER_CLIENT; run++) {
        await finish(`run-${client}-${run}`);
        await time.sleep(random() * 3_000);
      }
    });
    await Promise.all([...clients, storms()]);
    // Longer than any pause of a breaker.
    await time.sleep(10_000);
    for (const { engine } of processes) {
      await engine.flush();
      await engine.close();
    }
  };

  try {
    await time.until(history(), LIMIT);
    problems.push(...(await judge(disk, acknowledged, processes)));
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return { seed, trace: hash.digest("hex"), broken: problems[0], ...count };
}

/** Holds the promises against what is durable. */
async function judge(
  disk: SimulatedDisk,
  acknowledged: ReadonlyMap<string, string>,
  processes: readonly Process[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { engine } of processes) {
    const { openEpisodes } = engine.health();
    if (openEpisodes > 0) problems.push(`${openEpisodes} episodes are still open after close()`);
  }
  if (disk.queued.length > 0) problems.push(`${disk.queued.length} commits were left in the outbox`);
  const entries = await disk.backend.readEntries("default", { limit: 10_000 });
  for (const [run, status] of acknowledged) {
    const found = entries.filter(
      ({ key }) => key.startsWith(`outcome:key:${run}`) && key.replace(/#\d+$/, "") === `outcome:key:${run}`,
    );
    if (found.length !== 1) problems.push(`${run}, acknowledged as ${status}, is ${found.length} times in the ledger`);
  }
  const keeper = createEngine({ store: disk.backend, clock: () => START });
  const { outcomes, taught } = await keeper.status();
  if (outcomes.user !== acknowledged.size)
    problems.push(`${outcomes.user} outcomes count instead of ${acknowledged.size}`);
  if (taught !== acknowledged.size) problems.push(`${taught} episodes have taught instead of ${acknowledged.size}`);
  if (!(await replay(keeper)).identical) problems.push("the states do not follow from the ledger");
  return problems;
}

function weather(random: Random): Weather {
  const mood = random();
  if (mood < 0.35) return { fails: 0, losesAnswer: 0, hangs: 0, delay: 5 };
  if (mood < 0.5) return { fails: 1, losesAnswer: 0, hangs: 0, delay: 5 };
  if (mood < 0.65) return { fails: 0, losesAnswer: 0, hangs: 1, delay: 5 };
  return { fails: random() * 0.4, losesAnswer: random() * 0.5, hangs: random() * 0.3, delay: random() * 300 };
}
