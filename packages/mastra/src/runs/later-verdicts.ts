import type { AgentRun } from "./agent-run.js";

/** A recorded run of a network or of a workflow, which has an outcome of its own later. */
export type PartialRun = Pick<AgentRun, "episode" | "namespace">;

/** The runs of networks and workflows that have no verdict yet. */
export class LaterVerdicts {
  /** By thread, from a network's first routing on. */
  readonly #networks = new Map<string, PartialRun[]>();
  /** By request context. */
  readonly #workflows = new WeakMap<object, PartialRun[]>();
  readonly #limit: number;

  /** @param limit Number of networks that are kept, oldest out first. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A network routes on a thread: the runs that end there are part of it. */
  routes(threadId: string): void {
    if (this.#networks.has(threadId)) return;
    this.#networks.set(threadId, []);
    const [oldest] = this.#networks.keys();
    if (this.#networks.size > this.#limit && oldest !== undefined) this.#networks.delete(oldest);
  }

  /** A run has ended with memories. */
  ended({ episode, namespace, threadId }: AgentRun, requestContext: object | undefined): void {
    this.#networks.get(threadId)?.push({ episode, namespace });
    if (!requestContext) return;
    this.#workflows.set(requestContext, [...(this.#workflows.get(requestContext) ?? []), { episode, namespace }]);
  }

  takeNetwork(threadId: string | undefined): readonly PartialRun[] {
    if (threadId === undefined) return [];
    const runs = this.#networks.get(threadId) ?? [];
    this.#networks.delete(threadId);
    return runs;
  }

  takeWorkflow(requestContext: object): readonly PartialRun[] {
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
