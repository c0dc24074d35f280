/** Memory that is in use, bytes. */
export function heap(): number {
  // Only what is still reachable counts; the command starts Node so that it may be asked.
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
