import { OUTCOME_TIERS, type OutcomeEvent } from "../ledger/events.js";
import { SCOPES } from "../ledger/state-keys.js";
import type { EngineParts } from "./parts.js";

/** Logs when a source was beyond its cap. Diagnosis only: a failing read is ignored. */
export async function logCaps(
  { states, store, governance, now, log }: EngineParts,
  namespace: string,
  episode: string,
  { source, tier }: Pick<OutcomeEvent, "source" | "tier">,
): Promise<void> {
  const record = await states.episode(namespace, episode).catch(() => undefined);
  const parties = [record?.reward, ...(record?.votes ?? [])].filter((part) => part !== undefined);
  const own = parties.findLast((part) => part.source === source)?.credibility;
  const memories = own?.capped.length ?? 0;
  if (own ? memories === 0 : !(await isRefused())) return;
  log("warn", `Source ${source} credited some memories as much as one may: its outcome does not count for them.`, {
    code: "SOURCE_CAPPED",
    namespace,
    episode,
    source,
    ...(own ? { memories } : {}),
  });

  /** True where the outcome gave way to another source's and not to a better tier: its source is beyond a cap, or not trusted. */
  async function isRefused(): Promise<boolean> {
    const isOutranked = parties.some((part) => OUTCOME_TIERS.indexOf(part.tier) < OUTCOME_TIERS.indexOf(tier));
    if (isOutranked || !governance) return false;
    const [bytes] = await store.readStates(namespace, SCOPES.source, [source]).catch(() => []);
    return !!bytes && !!governance.describe(new Map([[source, bytes]]), now())[0]?.flags.includes("capped");
  }
}
