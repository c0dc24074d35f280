import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Tinypool } from "tinypool";
import type { Job, JobResult } from "./results.js";
import { prepare } from "./run-job.js";

/**
 * Makes ready what the jobs share: embeddings and candidates of their sets. Here and once, since threads that find nothing in the cache
 * would all compute the same.
 */
export async function prepareSets(jobs: readonly Job[], onProgress: (share: number) => void): Promise<void> {
  const sets = [...new Set(jobs.map((job) => job.set))];
  for (const [place, set] of sets.entries()) {
    await prepare(set);
    onProgress((place + 1) / sets.length);
  }
}

/**
 * Runs jobs in worker threads, one per core. Results come in the order of the jobs, whatever the order of their ends.
 *
 * @param onProgress with the share of the jobs that are done, 0..1
 */
export async function runJobs(
  jobs: readonly Job[],
  onProgress: (share: number) => void,
): Promise<readonly JobResult[]> {
  const used = Math.min(availableParallelism(), jobs.length);
  const pool = new Tinypool({
    filename: fileURLToPath(new URL("./worker.mjs", import.meta.url)),
    minThreads: used,
    maxThreads: used,
  });
  let done = 0;
  try {
    return await Promise.all(
      jobs.map(async (job): Promise<JobResult> => {
        const result: JobResult = await pool.run(job, { name: "work" });
        done += 1;
        onProgress(done / jobs.length);
        return result;
      }),
    );
  } finally {
    await pool.destroy();
  }
}
