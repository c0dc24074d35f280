import type { OutcomeInput } from "@qavr/core";
import { createRunSession, type RecentMap, type RunKit, recentMap } from "@qavr/core/adapter";
import type { AgentRun, EndedRun, Turn } from "./agent-run.js";

/** Turns of a thread that a task in the background may go on with, since users ask on while it runs, and runs of a turn. */
const MOST_OF_THREAD = 16;

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
  /** By thread, those with tool calls. */
  readonly #turns: RecentMap<string, Turn[]>;
  readonly #limit: number;

  /** @param limit Number of networks that are kept, and of runs of each network and request context; oldest out first. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#turns = recentMap(limit);
  }

  /**
   * The turn that a run without a question goes on with, if any. Mastra makes such a run when a task in the background is done, and names
   * the task's call in a system message. Applications make others, which say nothing about an earlier question.
   */
  goesOn(threadId: string, system: string): Turn | undefined {
    return this.#turns.get(threadId)?.findLast(({ calls }) => calls.some((call) => system.includes(call)));
  }

  /** A run has ended: its calls may go on in the background. */
  called({ threadId, turn, steps }: AgentRun): void {
    if (steps.length === 0) return;
    for (const { callId } of steps) this.#add(turn.calls, callId);
    const turns = this.#turns.get(threadId) ?? [];
    this.#turns.set(threadId, turns);
    if (!turns.includes(turn)) this.#add(turns, turn, MOST_OF_THREAD);
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
    { session, threadId, resumed, turn }: AgentRun,
    requestContext: object | undefined,
    recorded: Promise<unknown>,
  ): EndedRun | undefined {
    if (!session) return undefined;
    // Not the session: it would keep the run with all of its texts.
    const ended = { episodes: session.episodes(), recorded, isJudged: false };
    this.#add(turn.runs, ended, MOST_OF_THREAD);
    const network = this.#networks.get(threadId);
    // A network that waited for an approval goes on with another request context.
    if (network && resumed) network.requestContext = requestContext;
    if (network && network.requestContext === requestContext) this.#add(network.runs, ended);
    if (requestContext) {
      const runs = this.#workflows.get(requestContext) ?? [];
      this.#workflows.set(requestContext, runs);
      this.#add(runs, ended);
    }
    return ended;
  }

  #add<Entry>(list: Entry[], entry: Entry, limit: number = this.#limit): void {
    list.push(entry);
    if (list.length > limit) list.shift();
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
    for (const { episode, namespace } of (await Promise.all(runs.map(({ episodes }) => episodes))).flat()) {
      verdict.add(namespace, episode);
    }
    await verdict.end({ outcome });
    for (const run of runs) run.isJudged = true;
  }, undefined);
  await kit.held(recorded);
}
