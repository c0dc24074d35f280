/** Memory that is in use, bytes. */
export function heap(): number {
  // Only what is still reachable counts; the command starts Node so that it may be asked.
  (globalThis as { gc?: () => void }).gc?.();
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
