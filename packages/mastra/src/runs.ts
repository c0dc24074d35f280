import type { RunEpisode } from "./run-episode.js";

/** The runs under way in this process, and the namespaces of those that were. Bounded in number, oldest out first. */
export class Runs {
  readonly #limit: number;
  readonly #byEpisode = new Map<string, RunEpisode>();
  readonly #byRunId = new Map<string, RunEpisode>();
  readonly #byMessages = new WeakMap<object, RunEpisode>();
  /** Namespace by run, trace, thread and episode id. */
  readonly #namespaces = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#byEpisode.size;
  }

  add(run: RunEpisode, aliases: readonly string[]): void {
    this.#byEpisode.set(run.episode, run);
    if (run.runId !== undefined) this.#byRunId.set(run.runId, run);
    for (const alias of [run.episode, ...aliases]) this.#remember(alias, run.namespace);
    for (const oldest of this.#byEpisode.values()) {
      if (this.#byEpisode.size <= this.#limit) break;
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
    if (!run.ended) this.#byRunId.set(runId, run);
    this.#remember(runId, run.namespace);
  }

  remove(run: RunEpisode): void {
    if (this.#byEpisode.get(run.episode) === run) this.#byEpisode.delete(run.episode);
    if (run.runId !== undefined && this.#byRunId.get(run.runId) === run) this.#byRunId.delete(run.runId);
  }

  ofEpisode(episode: string | undefined): RunEpisode | undefined {
    return episode === undefined ? undefined : this.#byEpisode.get(episode);
  }

  ofRunId(runId: string | undefined): RunEpisode | undefined {
    return runId === undefined ? undefined : this.#byRunId.get(runId);
  }

  /** Also one that has ended. */
  ofMessages(messages: object | undefined): RunEpisode | undefined {
    return messages && this.#byMessages.get(messages);
  }

  /** Where a run, trace, thread or episode of this process was learned from. */
  namespaceOf(alias: string): string | undefined {
    return this.#namespaces.get(alias);
  }

  #remember(alias: string, namespace: string): void {
    this.#namespaces.delete(alias);
    this.#namespaces.set(alias, namespace);
    if (this.#namespaces.size <= 4 * this.#limit) return;
    const [oldest] = this.#namespaces.keys();
    if (oldest !== undefined) this.#namespaces.delete(oldest);
  }
}
