import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Tinypool } from "tinypool";

/**
 * Runs jobs in worker threads, one per core. Results come in the order of the jobs, whatever the order of their ends.
 *
 * @param program a module that exports `work(job)`
 * @param onProgress with the share of the jobs that are done, 0..1
 */
export async function runJobs<Job, Result>(
  program: URL,
  jobs: readonly Job[],
  onProgress: (share: number) => void,
): Promise<readonly Result[]> {
  const used = Math.min(availableParallelism(), jobs.length);
  const pool = new Tinypool({ filename: fileURLToPath(program), minThreads: used, maxThreads: used });
  let done = 0;
  try {
    return await Promise.all(
      jobs.map(async (job): Promise<Result> => {
        const result: Result = await pool.run(job, { name: "work" });
        done += 1;
        onProgress(done / jobs.length);
        return result;
      }),
    );
  } finally {
    await pool.destroy();
  }
}
