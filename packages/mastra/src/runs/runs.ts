import { type RecentMap, recentMap } from "@qavr/core/adapter";
import { hasLeft, type RunEpisode } from "./run-episode.js";

/** The runs under way in this process, and the names of those that were. Bounded in number, oldest out first. */
export class Runs {
  readonly #limit: number;
  readonly #underWay = new Set<RunEpisode>();
  readonly #byEpisode = new Map<string, RunEpisode>();
  /** Several runs may go by one run id (that of a workflow), but not on one thread. */
  readonly #byRunId = new Map<string, RunEpisode>();
  readonly #byMessages = new WeakMap<object, RunEpisode>();
  readonly #byContext = new WeakMap<object, Set<RunEpisode>>();
  /** Namespace by run, trace, thread and episode id. */
  readonly #namespaces: RecentMap<string, string>;
  /** Episode of a thread's latest run, unless that has left something: the ledger knows such a run as the thread's latest itself. */
  readonly #latest: RecentMap<string, string>;

  /** @param limit How many runs may be under way; the names of at least as many that were are remembered. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#namespaces = recentMap(8 * limit);
    this.#latest = recentMap(4 * limit);
  }

  get size(): number {
    return this.#underWay.size;
  }

  /** @param context The request context that it uses, maybe beside others. One that is added again is still on its first. */
  add(run: RunEpisode, aliases: readonly string[], context?: object): void {
    this.#underWay.add(run);
    if (context) run.beside = this.#on(context);
    run.beside.add(run);
    this.#latest.set(run.threadId, run.episode);
    if (run.recorded) {
      this.#byEpisode.set(run.episode, run);
      for (const alias of [run.episode, ...aliases]) this.remember(alias, run.namespace);
    }
    const runId = run.runId ?? run.expectedAs;
    if (runId !== undefined) this.#byRunId.set(keyOf(runId, run.threadId), run);
    for (const oldest of this.#underWay) {
      if (this.#underWay.size <= this.#limit) break;
      this.remove(oldest);
    }
  }

  /** The run's hooks are given this list of messages. */
  bind(run: RunEpisode, messages: object): void {
    this.#byMessages.set(messages, run);
  }

  /** The run goes by this id from now on. */
  identify(run: RunEpisode, runId: string): void {
    run.runId = runId;
    if (!run.ended) this.#byRunId.set(keyOf(runId, run.threadId), run);
    if (run.recorded) this.remember(runId, run.namespace);
  }

  remove(run: RunEpisode): void {
    this.#underWay.delete(run);
    run.beside.delete(run);
    if (hasLeft(run) && this.#latest.get(run.threadId) === run.episode) this.#latest.delete(run.threadId);
    if (this.#byEpisode.get(run.episode) === run) this.#byEpisode.delete(run.episode);
    for (const runId of [run.runId, run.expectedAs]) {
      if (runId === undefined) continue;
      const key = keyOf(runId, run.threadId);
      if (this.#byRunId.get(key) === run) this.#byRunId.delete(key);
    }
  }

  ofEpisode(episode: string | undefined): RunEpisode | undefined {
    return episode === undefined ? undefined : this.#byEpisode.get(episode);
  }

  ofRunId(runId: string | undefined, threadId: string | undefined): RunEpisode | undefined {
    return runId === undefined || threadId === undefined ? undefined : this.#byRunId.get(keyOf(runId, threadId));
  }

  /** The episode of the latest run that this process knows on a thread; undefined where that is over and has left something. */
  latestOn(threadId: string): string | undefined {
    return this.#latest.get(threadId);
  }

  /** Also one that has ended. */
  ofMessages(messages: object | undefined): RunEpisode | undefined {
    return messages && this.#byMessages.get(messages);
  }

  /** Those that use this very request context, not a copy of it. */
  ofContext(context: object | undefined): readonly RunEpisode[] {
    return [...((context && this.#byContext.get(context)) ?? [])];
  }

  #on(context: object): Set<RunEpisode> {
    const runs = this.#byContext.get(context) ?? new Set();
    this.#byContext.set(context, runs);
    return runs;
  }

  /** Where a run, trace, thread or episode of this process was learned from. */
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
