import type { DocumentInterface } from "@langchain/core/documents";
import type { MemoryParts } from "../memory-parts.js";
import type { QavrRetriever } from "../qavr-retriever.js";
import { narrowToReturned } from "../runs/narrow-exposures.js";
import { isAbort, isControlFlow } from "../runs/run-errors.js";
import { continueHandles } from "../runs/run-session.js";
import { isWithin, type RunNode, type ShownExposure } from "../runs/run-tree.js";
import type { AgentState } from "./middleware-options.js";

/** A retrieval at the start of an agent's run. */
export interface AgentRetrieval<Chosen> {
  readonly retriever: QavrRetriever;
  readonly query: (state: AgentState) => string | undefined | Promise<string | undefined>;
  /** The documents that the agent is shown, of those that were retrieved. */
  readonly choose: (documents: readonly DocumentInterface[]) => Promise<readonly Chosen[]>;
  /** The log line of a failed retrieval. */
  readonly failed: string;
}

/** The documents that an agent is shown. */
export interface Retrieved<Chosen> {
  /** The run of the retrieval. */
  readonly retrieval: string;
  readonly chosen: readonly Chosen[];
}

/**
 * Retrieves for an agent. Documents that are not chosen earn nothing, and the exposures are unread until {@link noteRead}: another
 * middleware may end the run before the first model call.
 *
 * @returns undefined without a query, and after a failure, which is logged
 * @throws LangGraph's control flow and aborts
 */
export async function retrieveForAgent<Chosen extends { readonly document: DocumentInterface }>(
  parts: MemoryParts,
  { retriever, query, choose, failed }: AgentRetrieval<Chosen>,
  state: AgentState,
): Promise<Retrieved<Chosen> | undefined> {
  const { kit, runs } = parts;
  const retrieval = crypto.randomUUID();
  const narrowTo = (documents: readonly DocumentInterface[]): void => {
    const run = runs.find(retrieval);
    if (run) narrowToReturned(kit, run, documents);
  };
  try {
    const text = await query(state);
    if (text === undefined || text.trim() === "") return undefined;
    continueHandles(parts, undefined, state.messages);
    const documents = await retriever.invoke(text, { runId: retrieval });
    const chosen = await choose(documents);
    narrowTo(chosen.map(({ document }) => document));
    const run = runs.find(retrieval);
    for (const exposure of exposuresOf(run)) run?.root.unread.add(exposure);
    return { retrieval, chosen };
  } catch (error) {
    const signals = runs.find(retrieval)?.root.signals ?? [];
    if (isControlFlow(error) || isAbort(error, signals)) throw error;
    kit.failOpen("MEMORIES_UNAVAILABLE", failed, { error });
    narrowTo([]);
    return undefined;
  }
}

/** Marks a retrieval's exposures as read by a model. A run that was interrupted since the retrieval is gone, with its marks. */
export function noteRead({ runs }: MemoryParts, retrieval: string | undefined): void {
  const run = retrieval === undefined ? undefined : runs.find(retrieval);
  for (const exposure of exposuresOf(run)) run?.root.unread.delete(exposure);
}

function exposuresOf(run: RunNode | undefined): readonly ShownExposure[] {
  return run ? run.root.exposures.filter((exposure) => isWithin(exposure.run, run)) : [];
}
