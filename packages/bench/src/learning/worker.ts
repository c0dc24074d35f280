import type { Job, JobResult } from "./results.js";
import { runJob } from "./run-job.js";

/** What a thread of the pool runs. */
export function work(job: Job): Promise<JobResult> {
  return runJob(job);
}
