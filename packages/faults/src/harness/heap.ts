import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// Without a collection, memory that nothing reaches any more would count as well.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Memory that is in use, bytes: only what is still reachable. */
export function heap(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The same once everything has come to rest: buffers are given back by the event loop, some time after they were collected. */
export async function settledHeap(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    heap();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return heap();
}
