import { constants } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "@qavr/core";
import type { LocalMemories } from "@qavr/local";
import { inMadeFolder, WRITE, writing } from "../own-folders.js";
import type { Archive } from "./archive.js";
import type { Procedure } from "./procedure.js";
import type { Catalogued, ProcedureIndex } from "./procedure-index.js";
import type { FileReplacer } from "./replace-file.js";

/** Parts of opened procedures that their jobs share. */
export interface LifecycleParts {
  readonly root: string;
  readonly engine: Engine;
  readonly namespace: string;
  readonly collection: LocalMemories;
  readonly index: ProcedureIndex;
  readonly replacer: FileReplacer;
  readonly archive: Archive;
  readonly now: () => number;
  withCounts(versions: readonly Pick<Catalogued, "memory" | "facts">[]): Promise<Procedure[]>;
}

/** Jobs of the lifecycle. */
const JOBS = ["stamp", "migrate", "review", "distil"] as const;
export type Job = (typeof JOBS)[number];

/** Notes that a job has ended. @throws STORE_UNWRITABLE */
export async function noteJob(root: string, job: Job): Promise<void> {
  const flag = WRITE | constants.O_TRUNC;
  const jobs = ".qavr/jobs";
  await writing(`${jobs}/${job}`, () =>
    inMadeFolder(root, jobs, (folder) => writeFile(join(folder, job), "", { flag })),
  );
}

/** When each job ended last, Unix ms; those that never ran are left out. */
export async function lastRuns(root: string): Promise<Partial<Record<Job, number>>> {
  const runs: Partial<Record<Job, number>> = {};
  for (const job of JOBS) {
    const is = await stat(join(root, ".qavr/jobs", job)).catch(() => undefined);
    if (is) runs[job] = is.mtimeMs;
  }
  return runs;
}
