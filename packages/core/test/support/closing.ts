import { onTestFinished } from "vitest";

/** A store, an engine or a page that is closed when the test has ended. */
export function closing<T extends { close(): Promise<void> }>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}
