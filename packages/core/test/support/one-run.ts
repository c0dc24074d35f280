import type { Engine, RankRequest } from "../../src/index.js";

type EndArguments = Parameters<Engine["end"]> extends [string, ...infer Rest] ? Rest : never;

/** One run from its ranking to its end. Returns its episode. */
export async function oneRun(
  engine: Pick<Engine, "rank" | "end">,
  request: RankRequest,
  ...end: EndArguments
): Promise<string> {
  const { episode } = await engine.rank(request);
  await engine.end(episode, ...end);
  return episode;
}
