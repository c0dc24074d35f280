import type { OutcomeInput } from "@qavr/core";
import { createRunSession, type RecentMap, type RunKit, type RunSession, recentMap } from "@qavr/core/adapter";
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

/** The recorded runs of networks and workflows that have no verdict yet, and those that runs without a question go on with. */
export class LaterVerdicts {
  /** By thread, from a network's first routing on. */
  readonly #networks = new Map<string, Network>();
  /** By request context. */
  readonly #workflows = new WeakMap<object, EndedRun[]>();
  /** Those since a thread's latest question. */
  readonly #turns: RecentMap<string, EndedRun[]>;
  readonly #limit: number;

  /** @param limit Number of networks that are kept, and of runs of each network and request context; oldest out first. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#turns = recentMap(limit);
  }

  /** A run with a question of its own begins on a thread. */
  asked(threadId: string): void {
    this.#turns.delete(threadId);
  }

  /** The runs that one without a question goes on with. Mastra makes one when a task in the background is done. */
  turnOn(threadId: string): readonly EndedRun[] {
    return [...(this.#turns.get(threadId) ?? [])];
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
    const turn = this.#turns.get(threadId) ?? [];
    this.#turns.set(threadId, turn);
    this.#add(turn, ended);
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

/**
 * Records a verdict behind its caller, as the ends of runs are, and after those: of one tier the later outcome counts.
 *
 * @param key Tells it from other verdicts about the same runs.
 */
export async function reportAll(
  { kit }: { readonly kit: RunKit },
  runs: readonly EndedRun[],
  outcome: OutcomeInput | null | undefined,
  key: string,
): Promise<void> {
  if (!outcome || runs.length === 0) return;
  const recorded = kit.record(async () => {
    await Promise.allSettled(runs.map((run) => run.recorded));
    const verdict = createRunSession({ engine: kit.engine, open: () => "", outcomeKey: key });
    for (const { episode, namespace } of (await Promise.all(runs.map(({ session }) => session.episodes()))).flat()) {
      verdict.add(namespace, episode);
    }
    await verdict.end({ outcome });
  }, undefined);
  await kit.held(recorded);
}
