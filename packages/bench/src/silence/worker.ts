import { type Learner, oar, type RankedItem, type Ranking } from "@qavr/core";
import { worthShowing } from "@qavr/core/adapter";
import { type DatasetName, judge, mean } from "@qavr/lab";
import { engineArm } from "../learning/engine-arm.js";
import { asker } from "../learning/protocol.js";
import { prepare, worldOf } from "../learning/run-job.js";
import type { ScenarioName } from "../learning/scenarios.js";
import { COLUMNS, type Column, replayOf } from "../real/columns.js";
import { runTrial } from "../real/trial.js";
import { embedderOf } from "../real/worker.js";

/** A way to show fewer memories. */
export interface Arm {
  readonly name: string;
  /** Memories of the list. @default the world's */
  readonly topK?: number;
  readonly minWorth?: number;
}

/** One arm with one seed, in a simulated world or on a column of real outcomes. */
export type SilenceJob = { readonly arm: Arm; readonly seed: number } & (
  | { readonly set: DatasetName; readonly scenario: ScenarioName }
  | { readonly column: string }
);

/** Means over requests. Tokens are a quarter of the texts' bytes; on real columns the number of candidates shown. */
export interface SilenceResult {
  readonly heldOut: number;
  readonly heldOutTokens: number;
}

type Choose = (ranking: Ranking) => readonly RankedItem[];

const BYTES_PER_TOKEN = 4;

function chooser({ minWorth }: Arm): Choose {
  return minWorth === undefined ? ({ items }) => items : (ranking) => worthShowing(ranking, minWorth);
}

async function simulated(
  arm: Arm,
  job: { readonly set: DatasetName; readonly scenario: ScenarioName; readonly seed: number },
): Promise<SilenceResult> {
  const { split, retrieval } = await prepare(job.set);
  const world = worldOf(job, split);
  const engine = engineArm(world, {
    learner: oar as unknown as () => Learner,
    choose: chooser(arm),
    ...(arm.topK === undefined ? {} : { topK: arm.topK }),
  });
  const ask = asker(world.lessons, retrieval);
  const size = new Map(world.lessons.map(({ id, text }) => [id, Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)]));
  const tokensOf = (shown: readonly string[]): number => shown.reduce((sum, id) => sum + (size.get(id) as number), 0);
  for (const request of world.stream) {
    const asked = ask(request);
    const shown = await engine.show(asked);
    await engine.learn(asked, shown);
  }
  const heldOut: number[] = [];
  const heldOutTokens: number[] = [];
  const truth = world.truthAt(world.stream.length);
  for (const request of world.heldOut) {
    const shown = await engine.preview(ask(request));
    heldOut.push(judge(world, request, shown, truth).success);
    heldOutTokens.push(tokensOf(shown));
  }
  await engine.close();
  return { heldOut: mean(heldOut), heldOutTokens: mean(heldOutTokens) };
}

async function real(arm: Arm, name: string, seed: number): Promise<SilenceResult> {
  const column = COLUMNS.find((one) => one.name === name) as Column;
  const choose = chooser(arm);
  const places: number[] = [];
  const counted: Choose = (ranking) => {
    const shown = choose(ranking);
    if (ranking.episode === "") places.push(shown.length);
    return shown;
  };
  const { heldOut } = await runTrial(await replayOf(column, seed), "oar", await embedderOf(column.set), counted);
  return { heldOut, heldOutTokens: mean(places) };
}

/** The program of a thread of the pool. */
export function work(job: SilenceJob): Promise<SilenceResult> {
  return "column" in job ? real(job.arm, job.column, job.seed) : simulated(job.arm, job);
}
