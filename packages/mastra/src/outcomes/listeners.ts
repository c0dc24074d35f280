import type { Engine } from "@qavr/core";
import type { MemoryParts } from "../memory-parts.js";

/**
 * The memories that receive scores and feedback. Memories on one engine with the same subscription are one listener, the latest of
 * them: a function that makes a memory for each call would add one each time.
 */
class Listeners {
  readonly #byEngine = new Map<Engine, Map<string, MemoryParts>>();

  constructor(first: MemoryParts) {
    this.add(first);
  }

  add(parts: MemoryParts): void {
    this.#dropClosed();
    const { engine } = parts.kit;
    const alike = this.#byEngine.get(engine) ?? new Map<string, MemoryParts>();
    this.#byEngine.set(engine, alike.set(subscriptionKey(parts), parts));
  }

  *[Symbol.iterator](): Iterator<MemoryParts> {
    this.#dropClosed();
    for (const alike of this.#byEngine.values()) yield* alike.values();
  }

  /** Drops listeners with a closed engine: they cannot record, and would keep the engine from the garbage collector. */
  #dropClosed(): void {
    for (const [engine, alike] of this.#byEngine) {
      if ([...alike.values()].some((parts) => parts.shared.isClosed())) this.#byEngine.delete(engine);
    }
  }
}

/** Key of the listeners of an observability or of a store: several memories, or two copies of this package, may share it. */
const LISTENERS: unique symbol = Symbol.for("qavr.mastra.listeners") as never;

/** Adds a memory to the listeners of an observability or of a store. Returns them where they are its first: nothing calls them yet. */
export function listen(source: object, parts: MemoryParts): Listeners | undefined {
  const listened = source as { [LISTENERS]?: Listeners };
  if (listened[LISTENERS]) return void listened[LISTENERS].add(parts);
  listened[LISTENERS] = new Listeners(parts);
  return listened[LISTENERS];
}

/** The options that read scores and feedback; functions by their text, since each call may have made its own. */
function subscriptionKey({ options: { scores, feedback, namespace } }: MemoryParts): string {
  return JSON.stringify([scores, feedback, namespace], (_name, value: unknown) =>
    typeof value === "function" ? String(value) : value,
  );
}
