import { createEngine, memoryStore, type RankedItem, type Ranking, type RankRequest } from "@qavr/core";
import { type Embed, mean, uniformAt } from "@qavr/lab";
import { countedIds, FIRST_RUN, RUN_INTERVAL } from "../learning/arm.js";
import type { HostedRequest, Replay } from "./columns.js";
import { learnerOf } from "./rows.js";

/** Mean outcome of what was shown, 0..1. */
export interface Success {
  /** Over the stream, while learning. */
  readonly online: number;
  /** Over requests that were never learned from, after the stream. */
  readonly heldOut: number;
}

/**
 * Sends a learner through a replay in the public engine: for each request of the stream it ranks, and learns the outcome that really
 * happened to a candidate which it showed. With several shown, the run used one of them, drawn evenly.
 *
 * @param choose the items of a ranking that are shown
 */
export async function runTrial(
  replay: Replay,
  row: string,
  embed: Embed,
  choose: (ranking: Ranking) => readonly RankedItem[] = ({ items }) => items,
): Promise<Success> {
  let now = FIRST_RUN;
  const fail = (message: string): never => {
    throw new Error(`${row} on ${replay.column.name}: ${message}`);
  };
  const engine = createEngine({
    store: memoryStore(),
    learner: learnerOf(row),
    clock: () => now,
    createId: countedIds(replay.seed),
    logger: { warn: fail, error: fail },
  });
  const asked = ({ text, category, candidates }: HostedRequest): RankRequest => ({
    vector: embed(text),
    context: replay.column.told ? category : undefined,
    space: "lsa-256",
    topK: replay.column.k,
    candidates: candidates.map(({ id, text: own, similarity }) => ({
      id,
      similarity,
      ...(own === undefined ? {} : { text: own }),
    })),
  });
  const outcomes = ({ candidates }: HostedRequest, shown: readonly { readonly id: string }[]): readonly number[] =>
    shown.map((item) => candidates.find(({ id }) => id === item.id)?.outcome ?? fail(`unknown candidate ${item.id}`));
  try {
    const online: number[] = [];
    for (const [place, request] of replay.stream.entries()) {
      const ranking = await engine.rank(asked(request));
      const { episode, exposure, items } = ranking;
      const shown = choose(ranking);
      if (shown.length < items.length) {
        engine.narrow(
          episode,
          exposure,
          shown.map(({ id }) => id),
        );
      }
      const happened = outcomes(request, shown);
      online.push(mean(happened));
      const used = Math.floor(uniformAt(replay.seed, place, 1) * happened.length);
      now += RUN_INTERVAL;
      await engine.end(episode, { reward: happened[used] as number, tier: "verified" });
    }
    const heldOut: number[] = [];
    for (const request of replay.heldOut) {
      const ranking = await engine.rank({ ...asked(request), record: false });
      heldOut.push(mean(outcomes(request, choose(ranking))));
    }
    return { online: mean(online), heldOut: mean(heldOut) };
  } finally {
    await engine.close();
  }
}
