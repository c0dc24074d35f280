import type { Job } from "./results.js";
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
