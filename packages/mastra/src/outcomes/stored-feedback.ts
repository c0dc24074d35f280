import type { MastraCompositeStore } from "@mastra/core/storage";
import type { MemoryParts } from "../memory-parts.js";
import { type ReceivedFeedback, recordFeedback } from "./feedback.js";
import { listen } from "./listeners.js";
import { referenceOf } from "./report-outcome.js";

/** Feedback as Mastra's server stores it, with the ids of its run. */
interface StoredFeedback extends ReceivedFeedback {
  readonly runId?: string | null;
  readonly traceId?: string | null;
  readonly resourceId?: string | null;
}

/** The storage of feedback, as far as it is needed here. */
interface FeedbackStore {
  createFeedback?(args: { readonly feedback: StoredFeedback }): Promise<void>;
}

/**
 * Subscribes a memory to feedback over HTTP. Mastra's server writes it into the storage and not to the exporters of observability, so
 * the storage's `createFeedback` is wrapped. Opens nothing: a storage is opened by its first use.
 */
export function subscribeToStoredFeedback(storage: MastraCompositeStore | undefined, parts: MemoryParts): void {
  const store = storage?.stores?.observability as unknown as FeedbackStore | undefined;
  if (typeof store?.createFeedback !== "function") return;
  const listeners = listen(store, parts);
  if (!listeners) return;
  const keep = store.createFeedback.bind(store);
  store.createFeedback = async (args) => {
    await keep(args);
    const { feedback } = args;
    for (const listener of listeners) await recordFeedback(listener, referenceOf(feedback, feedback.traceId), feedback);
  };
}
