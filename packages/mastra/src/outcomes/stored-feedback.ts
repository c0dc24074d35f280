import type { MastraCompositeStore } from "@mastra/core/storage";
import type { Internals } from "../internals.js";
import { type HeardFeedback, hearFeedback, referenceOf } from "./heard-feedback.js";
import { Listeners } from "./listeners.js";

/** A piece of feedback as Mastra's server stores it: which run it is about stands in it. */
interface StoredFeedback extends HeardFeedback {
  readonly runId?: string | null;
  readonly traceId?: string | null;
  readonly resourceId?: string | null;
}

/** The storage of feedback, as far as it is needed here. */
interface FeedbackStore {
  createFeedback?(args: { readonly feedback: StoredFeedback }): Promise<void>;
  [HEARERS]?: Listeners;
}

/** Where a store keeps who listens to it: several memories, or two copies of this package, may share it. */
const HEARERS: unique symbol = Symbol.for("qavr.mastra.feedback") as never;

/**
 * Listens to feedback that arrives over HTTP. Mastra's server writes it into the storage, past the exporters of observability; so
 * the storage's `createFeedback` tells the memory once it has kept a piece. Opens nothing: a storage is opened by its first use.
 */
export function hearStoredFeedback(storage: MastraCompositeStore | undefined, internals: Internals): void {
  const store = storage?.stores?.observability as unknown as FeedbackStore | undefined;
  if (typeof store?.createFeedback !== "function") return;
  const known = store[HEARERS];
  if (known) {
    known.add(internals);
    return;
  }
  const hearers = new Listeners(internals);
  const keep = store.createFeedback.bind(store);
  store[HEARERS] = hearers;
  store.createFeedback = async (args) => {
    await keep(args);
    const { feedback } = args;
    for (const hearer of hearers) await hearFeedback(hearer, referenceOf(feedback, feedback.traceId), feedback);
  };
}
