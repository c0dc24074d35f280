import type { EngineParts } from "./parts.js";

/** Logs when a source was beyond its cap. Diagnosis only: a failing read is ignored. */
export async function logCaps(
  { states, log }: EngineParts,
  namespace: string,
  episode: string,
  source: string,
): Promise<void> {
  const record = await states.episode(namespace, episode).catch(() => undefined);
  const parties = [record?.reward, ...(record?.votes ?? [])].map((part) => part?.credibility);
  const memories = parties.findLast((known) => known?.source === source)?.capped.length ?? 0;
  if (memories === 0) return;
  log(
    "warn",
    `Source ${source} has credited some memories as much as one source may: its outcome does not reach them.`,
    { code: "SOURCE_CAPPED", namespace, episode, source, memories },
  );
}
