import { cachedLsa, type Embed, lsaEmbedder } from "@qavr/lab";
import { COLUMNS, type Column, replayOf, TOLD_COLUMNS } from "./columns.js";
import { loadRealSet, type RealSetName } from "./real-sets.js";
import { type Reference, referencesOf } from "./references.js";
import { runTrial, type Success } from "./trial.js";

/** One row, or the references, on one column with one seed. */
export interface RealJob {
  readonly column: string;
  /** A learner of the rows; undefined: the references. */
  readonly row?: string;
  readonly seed: number;
}

export interface RealResult extends RealJob {
  readonly success: Readonly<Record<string, Partial<Success>>>;
}

const embedders = new Map<RealSetName, Promise<Embed>>();

/** The embedding of a set's requests: fitted on their texts, which an embedding model would know better. No outcome plays a part. */
export function embedderOf(set: RealSetName): Promise<Embed> {
  const known = embedders.get(set) ?? embedderFor(set);
  embedders.set(set, known);
  return known;
}

async function embedderFor(set: RealSetName): Promise<Embed> {
  const requests = await loadRealSet(set);
  const embed = lsaEmbedder(await cachedLsa(requests.map(({ text }) => text)));
  const vectors = new Map<string, Float32Array>();
  return (text) => {
    const known = vectors.get(text) ?? embed(text);
    vectors.set(text, known);
    return known;
  };
}

/** The program of a thread of the pool. */
export async function work(job: RealJob): Promise<RealResult> {
  const column = [...COLUMNS, ...TOLD_COLUMNS].find(({ name }) => name === job.column) as Column;
  const replay = await replayOf(column, job.seed);
  const embed = await embedderOf(column.set);
  const success: Partial<Record<Reference | string, Partial<Success>>> =
    job.row === undefined ? referencesOf(replay, embed) : { [job.row]: await runTrial(replay, job.row, embed) };
  return { ...job, success: success as RealResult["success"] };
}
