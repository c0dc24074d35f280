import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Corpus, createWorld, type Judgement, type World } from "@qavr/lab";
import { type ArmName, createArms } from "./arms.js";
import { labelChecker } from "./checker.js";
import { type Example, findExample } from "./example.js";
import { FakeChatModel } from "./fake-chat-model.js";
import { type HeldOutSet, heldOutSet, judgeArm } from "./held-out.js";
import { lessonStore } from "./lesson-store.js";
import { LsaEmbeddings } from "./lsa-embeddings.js";

/** Results of all arms after some runs. */
export interface Checkpoint {
  /** Requests answered so far. */
  readonly runs: number;
  readonly arms: readonly ArmStanding[];
}

export interface ArmStanding extends Judgement {
  readonly name: ArmName;
  /** Share of right answers since the last row of the table; undefined before the first run. */
  readonly online: number | undefined;
}

export interface SeedResult {
  readonly seed: number;
  readonly checkpoints: readonly Checkpoint[];
  readonly example: Example;
  readonly ledgers: readonly string[];
}

export interface SeedOptions {
  readonly corpus: Corpus;
  readonly seed: number;
  readonly runs: number;
  /** Folder of the run; each seed gets one inside. */
  readonly folder: string;
  /** @see ArmOptions.holdout */
  readonly holdout: number | undefined;
  readonly onProgress: (share: number) => void;
  /** Called after each request: whether each arm answered rightly. */
  readonly onAnswers: (right: readonly boolean[]) => void;
}

/** Rows of the table, in runs; the last run is always one. */
export function tableRows(runs: number): readonly number[] {
  return [...[100, 300, 1000, 3000].filter((row) => row < runs), runs];
}

/** Points of the plot. */
function plotPoints(runs: number): readonly number[] {
  const points = [0, 100, 200, 300, 500, 700, 1000, 1500, 2000, 2500, 3000, 4000, 5000].filter((point) => point < runs);
  return [...new Set([...points, ...tableRows(runs)])].sort((a, b) => a - b);
}

/** Runs all arms through one seed's stream, request by request side by side. */
export async function runSeed({
  corpus,
  seed,
  runs,
  folder,
  holdout,
  onProgress,
  onAnswers,
}: SeedOptions): Promise<SeedResult> {
  const { dataset, split, embed } = corpus;
  const world = createWorld(split, seed, { runs });
  const store = await lessonStore(split.lessons, new LsaEmbeddings(embed));
  const seedFolder = join(folder, `seed-${seed}`);
  await mkdir(seedFolder, { recursive: true });
  const check = labelChecker(dataset);
  const model = new FakeChatModel({ dataset, world });
  const arms = createArms({ store, model, k: world.k, evaluate: check, folder: seedFolder, holdout });
  try {
    const heldOut = await heldOutSet(world, store, embed);
    const points = plotPoints(runs);
    const rows = new Set(tableRows(runs));
    const checkpoints: Checkpoint[] = [];
    let right = arms.map(() => 0);
    let since = 0;
    for (let run = 0; run <= runs; run++) {
      if (points.includes(run)) {
        const online = right.map((count) => (since > 0 ? count / since : undefined));
        checkpoints.push(await standings({ world, heldOut, arms, online, run }));
        if (rows.has(run)) {
          right = arms.map(() => 0);
          since = 0;
        }
      }
      const request = world.stream[run];
      if (!request) break;
      const answers: boolean[] = [];
      for (const [place, arm] of arms.entries()) {
        const output = await arm.answer(request.text);
        answers.push(check({ input: request.text, output }) === true);
        if (answers[place]) (right[place] as number) += 1;
      }
      onAnswers(answers);
      since += 1;
      onProgress((run + 1) / runs);
    }
    const example = await findExample(world, heldOut, arms.find((arm) => arm.name === "qavr") as (typeof arms)[number]);
    return { seed, checkpoints, example, ledgers: arms.flatMap((arm) => arm.ledger ?? []) };
  } finally {
    await Promise.all(arms.map((arm) => arm.close()));
  }
}

async function standings({
  world,
  heldOut,
  arms,
  online,
  run,
}: {
  readonly world: World;
  readonly heldOut: HeldOutSet;
  readonly arms: ReturnType<typeof createArms>;
  readonly online: readonly (number | undefined)[];
  readonly run: number;
}): Promise<Checkpoint> {
  const standing: ArmStanding[] = [];
  for (const [place, arm] of arms.entries()) {
    standing.push({ name: arm.name, online: online[place], ...(await judgeArm(arm, world, heldOut)) });
  }
  return { runs: run, arms: standing };
}
