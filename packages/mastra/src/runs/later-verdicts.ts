import type { RunSession } from "@qavr/core/adapter";
import type { AgentRun } from "./agent-run.js";

interface Network {
  /** The one that its runs share. Other runs of its thread have others. */
  requestContext: object | undefined;
  readonly runs: RunSession[];
}

/** The recorded runs of networks and workflows that have no verdict yet. */
export class LaterVerdicts {
  /** By thread, from a network's first routing on. */
  readonly #networks = new Map<string, Network>();
  /** By request context. */
  readonly #workflows = new WeakMap<object, RunSession[]>();
  readonly #limit: number;

  /** @param limit Number of networks that are kept, and of runs of each network and request context; oldest out first. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A network routes on a thread. It replaces one that has failed, which leaves no verdict. */
  routes(threadId: string, requestContext: object | undefined): void {
    if (this.#networks.get(threadId)?.requestContext === requestContext) return;
    this.#networks.set(threadId, { requestContext, runs: [] });
    const [oldest] = this.#networks.keys();
    if (this.#networks.size > this.#limit && oldest !== undefined) this.#networks.delete(oldest);
  }

  /** A run has ended with memories. */
  ended({ session, threadId, resumed }: AgentRun, requestContext: object | undefined): void {
    if (!session) return;
    const network = this.#networks.get(threadId);
    // A network that waited for an approval goes on with another request context.
    if (network && resumed) network.requestContext = requestContext;
    if (network && network.requestContext === requestContext) this.#add(network.runs, session);
    if (!requestContext) return;
    const runs = this.#workflows.get(requestContext) ?? [];
    this.#workflows.set(requestContext, runs);
    this.#add(runs, session);
  }

  #add(runs: RunSession[], session: RunSession): void {
    runs.push(session);
    if (runs.length > this.#limit) runs.shift();
  }

  takeNetwork(threadId: string | undefined): readonly RunSession[] {
    if (threadId === undefined) return [];
    const { runs = [] } = this.#networks.get(threadId) ?? {};
    this.#networks.delete(threadId);
    return runs;
  }

  takeWorkflow(requestContext: object): readonly RunSession[] {
    const runs = this.#workflows.get(requestContext) ?? [];
    this.#workflows.delete(requestContext);
    return runs;
  }
}

/** True for the run that chooses the next step of a network. Mastra marks its list of messages. */
export function isRouting(messages: { serialize?(): object }): boolean {
  return (
    (messages.serialize?.() as { readonly _agentNetworkAppend?: unknown } | undefined)?._agentNetworkAppend === true
  );
}
