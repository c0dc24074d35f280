import type { HNSWLib } from "@langchain/community/vectorstores/hnswlib";
import { type Embed, type Judgement, judge, meanJudgement, type Request, type World } from "@qavr/bench";
import { type Arm, FETCHED, type HeldOutRequest } from "./arms.js";

/** Requests without learning, each with the store's candidates; the store does not change, so they are fetched once. */
export type HeldOutSet = readonly (HeldOutRequest & { readonly request: Request })[];

export async function heldOutSet(world: World, store: HNSWLib, embed: Embed): Promise<HeldOutSet> {
  return Promise.all(
    world.heldOut.map(async (request) => {
      const vector = Array.from(embed(request.text));
      const found = await store.similaritySearchVectorWithScore(vector, FETCHED);
      // HNSWLib returns cosine distances.
      const candidates = found.map(([{ id = "", pageContent }, distance]) => ({
        id,
        similarity: 1 - distance,
        text: pageContent,
      }));
      return { request, vector, candidates };
    }),
  );
}

/** How good the lists are that an arm would show right now: true success, nDCG and misleading lessons, averaged. */
export async function judgeArm(arm: Arm, world: World, heldOut: HeldOutSet): Promise<Judgement> {
  const judgements: Judgement[] = [];
  for (const entry of heldOut) {
    const shown = await arm.rank(entry);
    judgements.push(
      judge(
        world,
        entry.request,
        shown.map((lesson) => lesson.id),
      ),
    );
  }
  return meanJudgement(judgements);
}
