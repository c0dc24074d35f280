import { fileURLToPath } from "node:url";
import { Tinypool } from "tinypool";
import type { Job, JobResult } from "./results.js";
import { prepare } from "./run-job.js";

export interface RunJobsOptions {
  readonly threads: number;
  /** @param share of the jobs that are done, 0..1 */
  readonly onProgress: (share: number) => void;
}

/** Runs jobs in worker threads. Results come in the order of the jobs, whatever the order of their ends. */
export async function runJobs(
  jobs: readonly Job[],
  { threads, onProgress }: RunJobsOptions,
): Promise<readonly JobResult[]> {
  // Here and once: threads that find nothing in the cache would all compute the same.
  for (const set of new Set(jobs.map((job) => job.set))) await prepare(set);
  const pool = new Tinypool({
    filename: fileURLToPath(new URL("./worker.mjs", import.meta.url)),
    minThreads: Math.min(threads, jobs.length),
    maxThreads: Math.min(threads, jobs.length),
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
