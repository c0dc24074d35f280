import type { RunSession } from "@qavr/core/adapter";
import type { AgentRun } from "./agent-run.js";

/** A run with memories that has ended. */
export interface EndedRun {
  readonly session: RunSession;
  /** Settles when its end is recorded. */
  readonly recorded: Promise<unknown>;
}

interface Network {
  /** The one that its runs share. Other runs of its thread have others. */
  requestContext: object | undefined;
  readonly runs: EndedRun[];
}

/** The recorded runs of networks and workflows that have no verdict yet. */
export class LaterVerdicts {
  /** By thread, from a network's first routing on. */
  readonly #networks = new Map<string, Network>();
  /** By request context. */
  readonly #workflows = new WeakMap<object, EndedRun[]>();
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

  /** A run has ended with memories. @param recorded Settles when its end is recorded. */
  ended(
    { session, threadId, resumed }: AgentRun,
    requestContext: object | undefined,
    recorded: Promise<unknown>,
  ): void {
    if (!session) return;
    const ended = { session, recorded };
    const network = this.#networks.get(threadId);
    // A network that waited for an approval goes on with another request context.
    if (network && resumed) network.requestContext = requestContext;
    if (network && network.requestContext === requestContext) this.#add(network.runs, ended);
    if (!requestContext) return;
    const runs = this.#workflows.get(requestContext) ?? [];
    this.#workflows.set(requestContext, runs);
    this.#add(runs, ended);
  }

  #add(runs: EndedRun[], ended: EndedRun): void {
    runs.push(ended);
    if (runs.length > this.#limit) runs.shift();
  }

  takeNetwork(threadId: string | undefined): readonly EndedRun[] {
    if (threadId === undefined) return [];
    const { runs = [] } = this.#networks.get(threadId) ?? {};
    this.#networks.delete(threadId);
    return runs;
  }

  takeWorkflow(requestContext: object): readonly EndedRun[] {
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
