import { createEngine, memoryStore } from "@qavr/core";
import { cachedLsa, lsaEmbedder } from "@qavr/lab";
import { openProcedures } from "@qavr/markdown";
import { countedIds } from "../learning/arm.js";
import { buildCorpus, fileOf, inFolder, type Request } from "./corpus.js";

/** Shares of requests whose procedure was among the first three. */
export interface MatchingResult {
  readonly search: "words" | "words + vectors";
  readonly seed: number;
  readonly before: number;
  /** After the runs, by their outcomes. */
  readonly after: number;
}

/** Shares of requests whose procedure was first, where half of the procedures sound right and fail. */
export interface TwinResult {
  readonly seed: number;
  readonly before: number;
  readonly after: number;
}

const SHOWN = 3;
const DIMS = 256;
/** Texts that the embedding is fitted on. */
const FITTED = 3_000;

/** @param runs Runs that teach. @param tests Other requests, asked before and after them. */
export async function measureMatching(seed: number, runs: number, tests: number): Promise<MatchingResult[]> {
  const { procedures: known, requests } = await buildCorpus(seed);
  const files = Object.fromEntries(known.map((one) => [`procedures/${one.name}.md`, fileOf(one)]));
  const fitted = requests.slice(-FITTED).map(({ text }) => text);
  const embedText = lsaEmbedder(await cachedLsa(fitted, { dims: DIMS }));
  // A text without a known term has a vector of zeros, which no collection takes.
  const vectorOf = (text: string): number[] => [...embedText(text), 1e-6];
  const results: MatchingResult[] = [];
  for (const search of ["words", "words + vectors"] as const) {
    results.push(
      await inFolder(files, async (root) => {
        const engine = createEngine({ store: memoryStore(), createId: countedIds(seed) });
        const embed = search === "words" ? undefined : async (texts: readonly string[]) => texts.map(vectorOf);
        const procedures = openProcedures(root, { engine, embed });
        const shown = async ({ text }: Request) => procedures.search({ text, limit: SHOWN });
        const hits = async (asked: readonly Request[]): Promise<number> => {
          let right = 0;
          for (const request of asked) {
            const found = await shown(request);
            if (found.procedures.some(({ name }) => name === request.need)) right += 1;
          }
          return right / asked.length;
        };
        const before = await hits(requests.slice(0, tests));
        for (const request of requests.slice(tests, tests + runs)) {
          const { procedures: found, episode } = await shown(request);
          if (episode === "") continue;
          // The agent loads the right one where it sees it, else the first, and fails.
          const right = found.find(({ name }) => name === request.need);
          await procedures.load((right ?? (found[0] as (typeof found)[number])).id, { episode });
          await engine.report(episode, { reward: right !== undefined, tier: "verified" });
        }
        const after = await hits(requests.slice(0, tests));
        await procedures.close();
        await engine.close();
        return { search, seed, before, after };
      }),
    );
  }
  return results;
}

/**
 * Every second need has two procedures, each with half of the examples: one that serves it, and one that fails. The others have none. The
 * agent follows the first procedure.
 */
export async function measureTwins(seed: number, runs: number, tests: number): Promise<TwinResult> {
  const { procedures: known, requests: all } = await buildCorpus(seed);
  const needs = known.filter((_, place) => place % 2 === 0);
  const files = Object.fromEntries(
    needs.flatMap((one) => [
      [`procedures/${one.name}.md`, fileOf({ ...one, examples: one.examples.slice(0, 2) })],
      [`procedures/${one.name}-old.md`, fileOf({ ...one, examples: one.examples.slice(2) })],
    ]),
  );
  const wanted = new Set(needs.map(({ name }) => name));
  const requests = all.filter(({ need }) => wanted.has(need));
  return inFolder(files, async (root) => {
    const engine = createEngine({ store: memoryStore(), createId: countedIds(seed) });
    const procedures = openProcedures(root, { engine });
    const follow = async (request: Request, isTold: boolean): Promise<number> => {
      const { procedures: found, episode } = await procedures.search({ text: request.text, limit: SHOWN });
      const [first] = found;
      if (!first) return 0;
      const success = first.name === request.need;
      if (isTold) {
        await procedures.load(first.id, { episode });
        await engine.report(episode, { reward: success, tier: "verified" });
      }
      return success ? 1 : 0;
    };
    const share = async (asked: readonly Request[]): Promise<number> => {
      let right = 0;
      for (const request of asked) right += await follow(request, false);
      return right / asked.length;
    };
    const before = await share(requests.slice(0, tests));
    for (const request of requests.slice(tests, tests + runs)) await follow(request, true);
    const after = await share(requests.slice(0, tests));
    await procedures.close();
    await engine.close();
    return { seed, before, after };
  });
}
