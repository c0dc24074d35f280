import { type Judgement, judge, type LessonText, meanJudgement, type Request, type World } from "@qavr/lab";
import type { Retrieval } from "../retrieval/retrieval.js";
import type { Arm, Asked, CreateArm } from "./arm.js";
import type { Checkpoint, JobResult } from "./results.js";

/** After how many runs the held-out requests are judged; those beyond the stream are left out, its end always counts. */
export const CHECKPOINTS = [50, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000] as const;

/** Result of the protocol for one arm in one world. */
export type Trial = Pick<JobResult, "online" | "checkpoints" | "unseen" | "unseenSuccess">;

/**
 * Sends an arm through a world's stream and judges what it would show for held-out requests on the way, by the truth of that
 * time. Judging leaves no trace in the arm. Same world and arm, same numbers.
 */
export async function runTrial(
  world: World,
  retrieval: Retrieval,
  createArm: CreateArm,
  checkpointsAt: readonly number[] = CHECKPOINTS,
): Promise<Trial> {
  const arm = await createArm(world);
  const ask = asker(world.lessons, retrieval);
  const heldOut = world.heldOut.map(ask);
  const end = world.stream.length;
  const due = new Set([...checkpointsAt.filter((runs) => runs < end), end]);
  const checkpoints: Checkpoint[] = [];
  let success = 0;
  try {
    for (const request of world.stream) {
      const asked = ask(request);
      const shown = await arm.show(asked);
      success += world.truthAt(request.number).trueProbability(request.needs, shown);
      await arm.learn(asked, shown);
      const runs = request.number + 1;
      if (due.has(runs)) checkpoints.push({ runs, ...(await judgeHeldOut(world, arm, heldOut, runs)) });
    }
    const unseen = world.heldOutUnseen.map(ask);
    const judged = unseen.length > 0 ? await judgeHeldOut(world, arm, unseen, end) : undefined;
    return { online: success / end, checkpoints, unseen: judged?.ndcg, unseenSuccess: judged?.success };
  } finally {
    await arm.close();
  }
}

async function judgeHeldOut(world: World, arm: Arm, asked: readonly Asked[], runs: number): Promise<Judgement> {
  const truth = world.truthAt(runs);
  const judgements: Judgement[] = [];
  for (const one of asked) judgements.push(judge(world, one.request, await arm.preview(one), truth));
  return meanJudgement(judgements);
}

/** Asks the host for the candidates of a request. */
export function asker(lessons: readonly LessonText[], retrieval: Retrieval): (request: Request) => Asked {
  return (request) => {
    const { vector, candidates } = retrieval.find(request.text);
    return {
      request,
      vector,
      candidates: candidates.map(({ lesson, similarity }) => {
        const { id, text } = lessons[lesson] as LessonText;
        return { id, text, similarity };
      }),
    };
  };
}
