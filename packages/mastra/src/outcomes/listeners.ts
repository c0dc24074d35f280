import type { Engine } from "@qavr/core";
import type { Internals } from "../internals.js";

/**
 * The memories that hear of scores and feedback. Those on one engine that make the same of them are one listener, which the latest stands
 * for: a function that makes a memory anew for each call would add one each time.
 */
export class Listeners {
  readonly #byEngine = new Map<Engine, Map<string, Internals>>();

  constructor(first: Internals) {
    this.add(first);
  }

  add(internals: Internals): void {
    this.#dropClosed();
    const { engine } = internals;
    const alike = this.#byEngine.get(engine) ?? new Map<string, Internals>();
    this.#byEngine.set(engine, alike.set(earOf(internals), internals));
  }

  *[Symbol.iterator](): Iterator<Internals> {
    this.#dropClosed();
    for (const alike of this.#byEngine.values()) yield* alike.values();
  }

  /** Those whose engine is closed cannot record what they would hear, and would keep it from the collector. */
  #dropClosed(): void {
    for (const [engine, alike] of this.#byEngine) {
      if ([...alike.values()].some((internals) => internals.isClosed())) this.#byEngine.delete(engine);
    }
  }
}

/** The options that say what is made of scores and feedback; functions by their text, since each call may have made its own. */
function earOf({ options: { scores, feedback, namespace } }: Internals): string {
  return JSON.stringify([scores, feedback, namespace], (_name, value: unknown) =>
    typeof value === "function" ? String(value) : value,
  );
}
