import { assertName } from "../../store/validate.js";
import { namespaceIn } from "../check.js";
import type { EngineParts } from "../parts.js";
import type { Engine } from "../types.js";

/** Reopens the suspended episode of an alias in this process. */
export async function resumeEpisode(
  parts: EngineParts,
  ...[alias, options]: Parameters<Engine["resume"]>
): ReturnType<Engine["resume"]> {
  const { open, now } = parts;
  assertName(alias, "alias");
  const namespace = namespaceIn("resume", options);
  if (!parts.enabled) return undefined;
  // With the read timeout: a retrieval waits for the answer.
  const found = await parts.scoringStates.resolve(namespace, alias);
  if (found?.record.state !== "suspended" || found.record.suspendedAs !== alias) return undefined;
  // No report about it would be accepted any more.
  if (now() - found.record.lastAt > parts.outcomeWindow) return undefined;
  const already = open.get(found.id);
  if (already?.namespace === namespace) return already.id;
  return open.create(found.id, namespace, now(), found.record).id;
}
