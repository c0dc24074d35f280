import type { RequestContext } from "@mastra/core/request-context";
import type { MemoryParts } from "../memory-parts.js";
import { type RankedHits, rankHits } from "../recall/rank-hits.js";
import type { AgentRun } from "../runs/agent-run.js";
import { callingRun } from "../runs/calling-run.js";

/** The places in `hits` of the tools or skills that a run is shown, in learned order. Undefined where that failed, which is logged. */
export async function rankDescribed(
  parts: Pick<MemoryParts, "kit" | "options">,
  run: AgentRun,
  described: Omit<RankedHits, "minWorth" | "required">,
): Promise<readonly number[] | undefined> {
  const shown = await rankHits(parts, run, { ...described, required: true });
  return shown?.map(({ item }) => item.index);
}

/** The run that asks for tools or skills. Undefined for none, which is logged once, and for an application's own question. */
export async function askingRun(
  parts: Pick<MemoryParts, "kit" | "shared" | "options" | "enabled">,
  requestContext: RequestContext | undefined,
): Promise<AgentRun | undefined> {
  if (!parts.enabled || requestContext === undefined) return undefined;
  const { run } = await callingRun(parts, requestContext);
  if (!run) {
    parts.kit.warnOnce(
      "LISTED_OUTSIDE_RUN",
      "Ranked tools or skills were listed outside any run of their memory, so the host's own list was shown and nothing is learned. Give " +
        "the agent the same memory, and its runs a thread: generate(…, { memory: { thread, resource } }).",
    );
  }
  return run;
}
