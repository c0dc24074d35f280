import type { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { type Embed, type Judgement, judge, meanJudgement, type Request, type World } from "@qavr/lab";
import { type Arm, FETCHED, type HeldOutRequest } from "./arms.js";

/** Requests without learning, each with the store's candidates; the store does not change, so they are fetched once. */
export type HeldOutSet = readonly (HeldOutRequest & { readonly request: Request })[];

export async function heldOutSet(world: World, store: MemoryVectorStore, embed: Embed): Promise<HeldOutSet> {
  return Promise.all(
    world.heldOut.map(async (request) => {
      const vector = Array.from(embed(request.text));
      const found = await store.similaritySearchVectorWithScore(vector, FETCHED);
      const candidates = found.map(([{ id = "", pageContent }, similarity]) => ({ id, similarity, text: pageContent }));
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
