/** Is aborted after so many ms, for a reason of the caller's own. */
export function abortedWith(reason: unknown, ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), ms);
  return controller.signal;
}
