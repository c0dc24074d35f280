import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { type Interval, mean, pairedInterval } from "@qavr/lab";
import type { LearningOptions } from "@qavr/mastra";
import { createDesk, type Outdated, type Wording } from "./desk.js";
import { createDeskAgent, type Wiring } from "./desk-agent.js";

/** Fewer than Mastra's default of 4 make it matter which. */
const TOP_K = 2;

/** Which desks are watched, for how long, and what the two agents at each have for a memory. */
export interface LearningPlan {
  readonly seeds: readonly number[];
  readonly runs: number;
  /** Runs per row of the result. */
  readonly block: number;
  readonly wording?: Wording;
  readonly outdated?: Outdated;
  readonly messageRange?: number;
  /** Undefined for Mastra's own memory. */
  readonly control: LearningOptions | undefined;
  readonly treated: LearningOptions;
}

/** Success in one block of runs, over seeds. */
export interface LearningBlock {
  /** The block's last run. */
  readonly runs: number;
  readonly control: number;
  readonly treated: number;
  /** treated − control, paired by seed. */
  readonly gain: Interval;
}

export interface LearningResult {
  readonly blocks: readonly LearningBlock[];
  /** Over all runs. */
  readonly total: LearningBlock;
}

/** Lets pairs of agents work on the same tickets with the same luck. */
export async function measureLearning(
  plan: LearningPlan,
  onProgress: (share: number) => void = () => {},
): Promise<LearningResult> {
  const { seeds, runs, block, control, treated } = plan;
  const done: { readonly control: boolean[]; readonly treated: boolean[] }[] = [];
  for (const seed of seeds) {
    done.push({ control: await watch(plan, seed, control), treated: await watch(plan, seed, treated) });
    onProgress(done.length / seeds.length);
  }
  const between = (from: number, to: number): LearningBlock => {
    const success = (arm: "control" | "treated"): number[] =>
      done.map((pair) => mean(pair[arm].slice(from, to).map(Number)));
    const [without, withIt] = [success("control"), success("treated")];
    return { runs: to, control: mean(without), treated: mean(withIt), gain: pairedInterval(withIt, without) };
  };
  const blocks = Array.from({ length: Math.ceil(runs / block) }, (_, place) =>
    between(place * block, Math.min(runs, (place + 1) * block)),
  );
  return { blocks, total: between(0, runs) };
}

/** Success of every run of one agent. */
async function watch(
  { runs, wording, outdated, messageRange = 1 }: LearningPlan,
  seed: number,
  qavr: LearningOptions | undefined,
): Promise<boolean[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-desk-"));
  const wiring: Wiring = { topK: TOP_K, messageRange, qavr: qavr && { ...qavr, store: memoryStore() } };
  const agent = await createDeskAgent(createDesk(seed, wording, outdated), folder.path, wiring);
  const done: boolean[] = [];
  for (let run = 0; run < runs; run++) done.push(await agent.work(run));
  await agent.close();
  return done;
}
