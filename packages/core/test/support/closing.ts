import { onTestFinished } from "vitest";

/** Closes a store, an engine or the like when the test has ended. */
export function closing<T extends { close(): Promise<void> | void }>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}
