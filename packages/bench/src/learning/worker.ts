import type { Job, JobResult } from "./results.js";
import { runJob } from "./run-job.js";

/** The program of a thread of the pool. */
export function work(job: Job): Promise<JobResult> {
  return runJob(job);
}
