import { QavrError } from "../errors/qavr-error.js";
import type { RecordedEpisode } from "./episodes/find-episode.js";
import type { EngineParts } from "./parts.js";

const DAY = 86_400_000;

/** @param found the recorded episode, if there is one. @throws UNKNOWN_EPISODE, OUTCOME_TOO_LATE */
export function refuseReport(
  { outcomeWindow, now }: EngineParts,
  namespace: string,
  reference: string,
  found: RecordedEpisode | undefined,
): never {
  if (!found) {
    throw new QavrError(
      "UNKNOWN_EPISODE",
      `No episode ${reference} is open or recorded in namespace ${namespace}, or the run was shown no memory. Check the run id, and name the namespace it ran in.`,
      { details: { reference, namespace } },
    );
  }
  const age = now() - found.record.lastAt;
  throw new QavrError(
    "OUTCOME_TOO_LATE",
    `Episode ${found.id} ended ${Math.floor(age / DAY)} days ago; outcomes are accepted for ${outcomeWindow / DAY}. Raise outcomeWindow if later feedback is meant.`,
    { details: { episode: found.id, age, window: outcomeWindow } },
  );
}
