import { type RecentMap, recentMap } from "@qavr/core/adapter";
import { type AgentRun, hasRecordedMemories } from "./agent-run.js";

/** The runs under way in this process, and the names of earlier ones. Bounded in number, oldest out first. */
export class Runs {
  readonly #limit: number;
  readonly #underWay = new Set<AgentRun>();
  readonly #byEpisode = new Map<string, AgentRun>();
  /** Several runs may share one run id (that of a workflow), but not on one thread. */
  readonly #byRunId = new Map<string, AgentRun>();
  readonly #byMessages = new WeakMap<object, AgentRun>();
  readonly #byRequestContext = new WeakMap<object, Set<AgentRun>>();
  /** Namespace by run, trace, thread and episode id. */
  readonly #namespaces: RecentMap<string, string>;
  /** Episode by run id and thread, also of runs that have ended. */
  readonly #episodes: RecentMap<string, string>;
  /** Episodes of runs that were let go of while they were under way. */
  readonly #letGo: RecentMap<string, true>;
  /** Thread by run id, of runs with recorded memories that have ended; false for several threads. */
  readonly #threads: RecentMap<string, string | false>;
  /** Episode of a thread's latest run, until that run has recorded memories: the ledger then has it as the thread's latest. */
  readonly #latest: RecentMap<string, string>;

  /** @param limit Number of runs that may be under way; at least as many names of earlier runs are kept. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#namespaces = recentMap(8 * limit);
    this.#episodes = recentMap(4 * limit);
    this.#letGo = recentMap(limit);
    this.#threads = recentMap(4 * limit);
    this.#latest = recentMap(4 * limit);
  }

  get size(): number {
    return this.#underWay.size;
  }

  /** @param requestContext The request context that it uses, perhaps beside other runs. A run that is added again keeps its first one. */
  add(run: AgentRun, aliases: readonly string[], requestContext?: object): void {
    this.#underWay.add(run);
    if (requestContext) run.beside = this.#on(requestContext);
    run.beside.add(run);
    // The latest answer is still about the question that it goes on with.
    if (!run.goesOn) this.#latest.set(run.threadId, run.episode);
    if (run.session) {
      this.#byEpisode.set(run.episode, run);
      for (const alias of [run.episode, ...aliases]) this.remember(alias, run.namespace);
    }
    const runId = run.runId ?? run.expectedAs;
    if (runId !== undefined) this.#name(run, runId);
    for (const oldest of this.#underWay) {
      if (this.#underWay.size <= this.#limit) break;
      this.#letGo.set(oldest.episode, true);
      this.remove(oldest);
    }
  }

  /** The run's hooks are given this list of messages. */
  bind(run: AgentRun, messages: object): void {
    this.#byMessages.set(messages, run);
  }

  /** Gives the run its id. */
  identify(run: AgentRun, runId: string): void {
    run.runId = runId;
    this.#name(run, runId);
    if (run.session) this.remember(runId, run.namespace);
  }

  #name(run: AgentRun, runId: string): void {
    const key = keyOf(runId, run.threadId);
    if (!run.ended) this.#byRunId.set(key, run);
    if (run.session) this.#episodes.set(key, run.episode);
  }

  remove(run: AgentRun): void {
    this.#underWay.delete(run);
    run.beside.delete(run);
    if (hasRecordedMemories(run)) {
      const { runId, threadId, episode } = run;
      if (this.#latest.get(threadId) === episode || run.goesOn) this.#latest.delete(threadId);
      if (runId !== undefined) {
        this.#threads.set(runId, (this.#threads.get(runId) ?? threadId) === threadId && threadId);
      }
    }
    if (this.#byEpisode.get(run.episode) === run) this.#byEpisode.delete(run.episode);
    for (const runId of [run.runId, run.expectedAs]) {
      if (runId === undefined) continue;
      const key = keyOf(runId, run.threadId);
      if (this.#byRunId.get(key) === run) this.#byRunId.delete(key);
    }
  }

  ofEpisode(episode: string | undefined): AgentRun | undefined {
    return episode === undefined ? undefined : this.#byEpisode.get(episode);
  }

  ofRunId(runId: string | undefined, threadId: string | undefined): AgentRun | undefined {
    return runId === undefined || threadId === undefined ? undefined : this.#byRunId.get(keyOf(runId, threadId));
  }

  /** The episode of a run of this process, also of one that has ended. */
  episodeOf(runId: string | undefined, threadId: string | undefined): string | undefined {
    return runId === undefined || threadId === undefined ? undefined : this.#episodes.get(keyOf(runId, threadId));
  }

  /** True for a run that was let go of while it was under way, since more were than are kept. */
  wasLetGo(runId: string | undefined, threadId: string | undefined): boolean {
    const episode = this.episodeOf(runId, threadId);
    return episode !== undefined && this.#letGo.has(episode);
  }

  /** True for the id of several runs with recorded memories that have ended in this process. */
  isShared(runId: string): boolean {
    return this.#threads.get(runId) === false;
  }

  /** The episode of the latest run that this process knows on a thread; undefined when the ledger has that run. */
  latestOn(threadId: string): string | undefined {
    return this.#latest.get(threadId);
  }

  /** Also one that has ended. */
  ofMessages(messages: object | undefined): AgentRun | undefined {
    return messages && this.#byMessages.get(messages);
  }

  /** The runs that use this request context itself, not a copy of it. */
  onRequestContext(requestContext: object | undefined): readonly AgentRun[] {
    return [...((requestContext && this.#byRequestContext.get(requestContext)) ?? [])];
  }

  #on(requestContext: object): Set<AgentRun> {
    const runs = this.#byRequestContext.get(requestContext) ?? new Set();
    this.#byRequestContext.set(requestContext, runs);
    return runs;
  }

  /** The namespace of a run, trace, thread or episode of this process. */
  namespaceOf(alias: string): string | undefined {
    return this.#namespaces.get(alias);
  }

  /** An episode outside any run has a namespace too. */
  remember(alias: string, namespace: string): void {
    this.#namespaces.set(alias, namespace);
  }
}

function keyOf(runId: string, threadId: string): string {
  return `${runId.length}:${runId}${threadId}`;
}
