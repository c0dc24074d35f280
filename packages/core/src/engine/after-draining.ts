import { QavrError } from "../errors/qavr-error.js";
import type { OutboxQueue } from "../store/store.js";
import type { EngineParts } from "./parts.js";
import type { StateReader } from "./state-reader.js";

/** A recorded episode that may have waited in the outbox. @throws STORE_UNAVAILABLE while it may still wait there */
export async function afterDraining(
  { states }: EngineParts,
  queue: OutboxQueue,
  namespace: string,
  reference: string,
): ReturnType<StateReader["resolve"]> {
  await queue.drain();
  const passedOn = await states.resolve(namespace, reference);
  const waiting = queue.health().queued;
  if (passedOn || waiting === 0) return passedOn;
  throw new QavrError(
    "STORE_UNAVAILABLE",
    `Episode ${reference} is not in the store, but ${waiting} commits wait in the outbox and it may be among them. Repeat this when the store is back.`,
    { details: { reference, waiting } },
  );
}
