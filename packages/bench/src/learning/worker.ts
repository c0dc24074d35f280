/** The program of a thread of the pool. */
export { runJob as work } from "./run-job.js";
