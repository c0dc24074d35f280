/** Memory of the process that is in use, after a collection. */
export function used(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage.rss();
}
