import { createEngine, memoryStore } from "@qavr/core";
import { seededRandom } from "@qavr/lab";
import type { Attack, AttackResult, AttackSize } from "./attacks.js";
import type { Layer } from "./world.js";

/** Success of a run by the memory that leads it. */
const ARMS = [0.45, 0.5, 0.75, 0.4, 0.3, 0.35] as const;
const BEST_SUCCESS = Math.max(...ARMS);
const VERIFIED = 0.05;
const SOURCES = 10;
/** Changed words per ln T: what is known to break learners without verification. */
const BUDGET = 60;
const RUN = 600_000;

/** Runs in a row that are looked at to say how well a stream is doing. */
const WINDOW = 100;
/** Expected successes that a run may lose on top of a clean stream's and still count as recovered. */
const MARGIN = 0.02;
/** Most runs after an attack until the stream has recovered. */
const RECOVERY = 1_000;

/** How a stream went. */
export interface Stream {
  /** Expected successes lost by each run, against leading with the best memory. */
  readonly lost: readonly number[];
  /** The run after the last one whose outcome was changed; 0 when none was. */
  readonly over: number;
}

/**
 * A stream of runs in which an attacker changes what some sources say, wherever it hurts: successes of the best memory become
 * failures, failures of the others successes, from a third of the stream on until the budget is spent, or the second third is over.
 * Verified outcomes cannot be changed.
 */
async function stream(layer: Layer, runs: number, seed: number, budget: number): Promise<Stream> {
  const random = seededRandom(seed);
  const clock = { now: 1_767_225_600_000 };
  const engine = createEngine({ store: memoryStore(), holdout: 0, clock: () => clock.now, ...layer.options });
  const candidates = ARMS.map((_, i) => ({ id: `m${i}`, similarity: 0.9 - 0.03 * i }));
  const lost: number[] = [];
  let [left, over] = [budget, 0];
  for (let run = 0; run < runs; run++) {
    clock.now += RUN;
    const { episode, items } = await engine.rank({ candidates, vector: [1, 0.1 * random()], topK: 1 });
    const led = items[0]?.index as number;
    const chance = ARMS[led] as number;
    lost.push(BEST_SUCCESS - chance);
    const reward = random() < chance;
    const source = Math.floor(random() * SOURCES);
    // The attacker controls three of the ten sources.
    const hurts = reward === (chance === BEST_SUCCESS);
    const isChanged = run > runs / 3 && run < (2 * runs) / 3 && left > 0 && hurts && source < 3;
    if (isChanged) [left, over] = [left - 1, run + 1];
    await engine.end(episode, { reward: isChanged ? !reward : reward, source: `source ${source}` });
    if (random() < VERIFIED) await engine.report(episode, { reward, tier: "verified", source: "checker" });
  }
  return { lost, over };
}

/** The same stream without and with an attacker. */
export interface Streams {
  readonly clean: Stream;
  readonly attacked: Stream;
}

/** Both promises are about the same streams. */
const known = new Map<string, Promise<Streams>>();

function streams(layer: Layer, runs: number, seed: number): Promise<Streams> {
  const key = JSON.stringify([layer.name, runs, seed]);
  const both = async (): Promise<Streams> => ({
    clean: await stream(layer, runs, seed, 0),
    attacked: await stream(layer, runs, seed, Math.round(BUDGET * Math.log(runs))),
  });
  const found = known.get(key) ?? both();
  known.set(key, found);
  return found;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Runs from the end of the attack to the first hundred in a row that lose no more than the clean stream does from there on, and
 * {@link MARGIN}; those to the end of the stream when none do.
 */
export function recovery({ clean, attacked: { lost, over } }: Streams): {
  readonly runs: number;
  readonly reached: boolean;
} {
  const rest = clean.lost.slice(over);
  const bound = sum(rest) / rest.length + MARGIN;
  for (let start = over; start + WINDOW <= lost.length; start++) {
    if (sum(lost.slice(start, start + WINDOW)) / WINDOW <= bound) return { runs: start - over, reached: true };
  }
  return { runs: lost.length - over, reached: false };
}

export const MANIPULATED_STREAM: Attack = {
  id: "S6",
  title: "outcomes changed wherever it hurts, with a budget of 60 ln T, 5 % verified",
  promise: "regret at most twice that of a clean stream",
  async run(layer: Layer, size: AttackSize, seed: number): Promise<AttackResult> {
    const { clean, attacked } = await streams(layer, size.stream, seed);
    // A stream without any regret has no double.
    const worst = sum(attacked.lost) / Math.max(sum(clean.lost), 1);
    return { worst, unit: "× the clean regret", held: worst <= 2 };
  },
};

export const RECOVERY_AFTER_MANIPULATION: Attack = {
  id: "S6",
  title: "the same, once it is over: how long until runs go as well as in a clean stream",
  promise: `at most ${RECOVERY.toLocaleString("en")} runs after the last changed outcome, ${WINDOW} runs in a row lose no more than a clean stream's, within ${MARGIN} successes a run`,
  async run(layer: Layer, size: AttackSize, seed: number): Promise<AttackResult> {
    const { runs, reached } = recovery(await streams(layer, size.stream, seed));
    return { worst: runs, unit: reached ? "runs" : "runs and more", held: reached && runs <= RECOVERY };
  },
};
