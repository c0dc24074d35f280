import { seededRandom } from "@qavr/bench";
import { createEngine, memoryStore } from "@qavr/core";
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

/**
 * A stream of runs in which an attacker changes what some sources say, wherever it hurts: successes of the best memory become
 * failures, failures of the others successes, from a third of the stream on until the budget is spent. Verified outcomes cannot be
 * changed.
 *
 * @returns the regret: expected successes lost against always leading with the best memory
 */
async function stream(layer: Layer, runs: number, seed: number, budget: number): Promise<number> {
  const random = seededRandom(seed);
  const clock = { now: 1_767_225_600_000 };
  const engine = createEngine({ store: memoryStore(), clock: () => clock.now, ...layer.options });
  const candidates = ARMS.map((_, i) => ({ id: `m${i}`, similarity: 0.9 - 0.03 * i }));
  let [regret, left] = [0, budget];
  for (let run = 0; run < runs; run++) {
    clock.now += RUN;
    const { episode, items } = await engine.rank({ candidates, vector: [1, 0.1 * random()], topK: 1 });
    const led = items[0]?.index as number;
    const chance = ARMS[led] as number;
    regret += BEST_SUCCESS - chance;
    const reward = random() < chance;
    const source = Math.floor(random() * SOURCES);
    // The attacker speaks for three of the ten.
    const hurts = reward === (chance === BEST_SUCCESS);
    const isChanged = run > runs / 3 && left > 0 && hurts && source < 3;
    if (isChanged) left -= 1;
    await engine.end(episode, { reward: isChanged ? !reward : reward, source: `source ${source}` });
    if (random() < VERIFIED) await engine.report(episode, { reward, tier: "verified", source: "checker" });
  }
  return regret;
}

export const MANIPULATED_STREAM: Attack = {
  id: "S6",
  title: "outcomes changed wherever it hurts, with a budget of 60 ln T, 5 % verified",
  promise: "regret at most twice that of a clean stream",
  async run(layer: Layer, size: AttackSize, seed: number): Promise<AttackResult> {
    const clean = await stream(layer, size.stream, seed, 0);
    const attacked = await stream(layer, size.stream, seed, Math.round(BUDGET * Math.log(size.stream)));
    // A stream without any regret has no double.
    const worst = attacked / Math.max(clean, 1);
    return { worst, unit: "× the clean regret", held: worst <= 2 };
  },
};
