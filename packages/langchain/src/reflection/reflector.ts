import type { Document, DocumentInterface } from "@langchain/core/documents";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { QavrError } from "@qavr/core";
import {
  checkFields,
  type EpisodeOfRun,
  type FieldRules,
  FUNCTION,
  illegalOption,
  oneOf,
  RATE,
  SWITCH,
  sortVotes,
} from "@qavr/core/adapter";
import { type MemoryHandle, type MemoryParts, ownNamespace, partsOf } from "../memory-parts.js";
import { isVectorStore } from "../ranking/host.js";
import { isTextCollection } from "../ranking/text-collection.js";
import { scopeOfRun } from "../runs/run-scope.js";
import type { RecalledMemory, SettledRun } from "../runs/verdict.js";
import { REFLECTION_LIMITS } from "./parameters.js";
import { assertModel, type Reflection, reflect } from "./reflect.js";
import type { ReflectedRun } from "./reflection-prompt.js";
import { runText } from "./run-text.js";
import { type ClaimIndex, type ClaimMetadata, type ClaimSink, claimDocuments, saveClaims } from "./save-claims.js";

/** Marks the runs of reflections, which are not reflected on. */
const REFLECTION_KEY = "qavr_reflection";

/** The ended runs to reflect on: failed ones (reward below 0.5), all, or the choice of a function. */
export type ReflectOn = "failure" | "always" | ((run: SettledRun) => boolean);

/** Options of a {@link Reflector}. */
export interface ReflectorOptions {
  readonly memory: MemoryHandle;
  /** Any LangChain chat model; a small one will do. */
  readonly model: BaseChatModel;
  /**
   * Destination of new claims. In a collection that keeps namespaces apart, a claim goes to the namespace of its run, unless the collection
   * is that of one namespace (`claims.of("bigquery")`). Without it none are kept and only votes count.
   */
  readonly saveTo?: ClaimSink | undefined;
  /**
   * Also reflects on tracked runs as they end, in the background; `memory.flush()` waits.
   * @default undefined: only when it is invoked
   */
  readonly reflectOn?: ReflectOn | undefined;
  /** True lets the end of a run wait for its reflection: where a process may stop right after it. @default false */
  readonly wait?: boolean | undefined;
  /** The text that a new memory is indexed by: the task that led to it, its own words, or both. @default "both" */
  readonly indexBy?: ClaimIndex | undefined;
  /** The task of a run as a query. @default its input as text; of messages the last one from a person */
  readonly queryOf?: ((run: ReflectedRun) => string) | undefined;
  /** Weight of the model's votes, in (0, 1]; a model's judgement of another model may deserve less. @default 1 */
  readonly weight?: number | undefined;
  /** False asks for JSON in plain text, for models whose tool calling is unreliable. @default true, where the model can */
  readonly structured?: boolean | undefined;
}

/** A finished run to reflect on. */
export interface ReflectionInput extends ReflectedRun {
  /** The root run's id, or an episode's. Without it, claims are saved and votes are not recorded. */
  readonly runId?: string | undefined;
  /** Memories that it was shown: as `evaluate` gets them, or the documents that a retrieval of the memory returned. */
  readonly memories?: readonly (RecalledMemory | DocumentInterface)[] | undefined;
  /** Scope of learning. @default the run's where this process ran it, else the memory's */
  readonly namespace?: string | undefined;
}

/** Result of a reflection. */
export interface ReflectionReport extends Reflection {
  /** The claims as they were saved. */
  readonly saved: readonly Document<ClaimMetadata>[];
  /** How many votes were recorded. */
  readonly votes: number;
}

/**
 * Asks a model for the lessons of a finished run. Its claims become memories, each with the query that led to it, and its votes on the
 * memories shown become outcomes of the tier `self-reported`. A malformed answer changes nothing.
 *
 * A Runnable; with `reflectOn` it also follows the memory's tracked runs.
 *
 * @throws INVALID_ARGUMENT from the constructor; from `invoke` INVALID_ARGUMENT for what is no run, INVALID_MODEL_OUTPUT, the errors of the
 * model and of the store of claims, and the ledger's codes
 */
export class Reflector extends Runnable<ReflectionInput, ReflectionReport> {
  static override lc_name(): string {
    return "QavrReflector";
  }

  override lc_namespace: string[] = ["langchain", "reflection", "qavr"];
  readonly #options: ReflectorOptions;
  readonly #parts: MemoryParts;
  #pending = 0;

  constructor(options: ReflectorOptions) {
    super();
    assertReflectorOptions(options);
    this.#parts = partsOf(options.memory);
    this.#options = options;
    const { reflectOn, wait = false } = options;
    if (reflectOn === undefined) return;
    this.#parts.afterRun.add({ follow: (run) => this.#follow(run, reflectOn), waits: wait });
  }

  override invoke(input: ReflectionInput, options: Partial<RunnableConfig> = {}): Promise<ReflectionReport> {
    const config = { ...options, metadata: { ...options.metadata, [REFLECTION_KEY]: true } };
    return this._callWithConfig((run: ReflectionInput, inner) => this.#reflectOn(run, inner ?? {}), input, config);
  }

  async #reflectOn(run: ReflectionInput, config: RunnableConfig): Promise<ReflectionReport> {
    if (typeof run !== "object" || run === null)
      throw illegalOption("input", "input must be a finished run: { runId, input, output, memories }", run);
    const { memories: given = [] } = run;
    if (!Array.isArray(given))
      throw illegalOption("memories", "memories must be the list of memories that the run was shown", given);
    const memories = given.map((memory) => this.#recalled(memory));
    const namespaces = this.#namespacesOf(run);
    const episodes = run.runId === undefined ? [] : await this.#episodesOf(run.runId, namespaces);
    return this.#apply(
      { ...run, memories, episodes, namespace: homeIn(namespaces, ownNamespace(this.#parts)) },
      config,
    );
  }

  /** Asks the model first, then records the votes, which the ledger takes once, and saves the claims. */
  async #apply(
    run: ReflectedRun & {
      readonly runId?: string | undefined;
      readonly memories: readonly RecalledMemory[];
      readonly episodes: readonly EpisodeOfRun[];
      readonly namespace: string;
    },
    config: RunnableConfig,
  ): Promise<ReflectionReport> {
    const { model, structured, saveTo, indexBy = "both", queryOf } = this.#options;
    const { engine } = this.#parts.kit;
    const reflection = await reflect({
      model,
      run,
      memories: run.memories,
      ...(structured === undefined ? {} : { structured }),
      config: { ...config, metadata: { ...config.metadata, [REFLECTION_KEY]: true } },
    });
    const query = queryOf ? queryOf(run) : runText(run.input, "asked");
    if (typeof query !== "string") throw illegalOption("queryOf", "queryOf must return a text, at once", query);
    const about = { query, runId: run.runId, namespace: run.namespace };
    const saved = saveTo ? claimDocuments(reflection.newClaims, about) : [];
    const votes = engine.enabled ? await this.#vote(run.episodes, reflection) : 0;
    if (saveTo) await saveClaims(saveTo, saved, indexBy);
    return { ...reflection, saved, votes };
  }

  async #vote(episodes: readonly EpisodeOfRun[], reflection: Reflection): Promise<number> {
    const { engine } = this.#parts.kit;
    const { weight } = this.#options;
    const names = { helpful: reflection.helpfulMemories, harmful: reflection.harmfulMemories };
    const { byEpisode, counted } = await sortVotes(engine, episodes, names);
    for (const { episode, namespace, helpful, harmful } of byEpisode) {
      if (helpful.length + harmful.length === 0) continue;
      const said = { tier: "self-reported" as const, source: "reflection", reward: null, helpful, harmful };
      await engine.report(episode, weight === undefined ? said : { ...said, weight }, { namespace });
    }
    return counted;
  }

  /** Never rejects. */
  async #follow(run: SettledRun, reflectOn: ReflectOn): Promise<void> {
    const { log, tasks } = this.#parts.kit;
    const failed = (error: unknown): void => {
      log("warn", "REFLECTION_FAILED", "A reflection on a run failed or was malformed.", { runId: run.runId, error });
    };
    try {
      if (run.metadata[REFLECTION_KEY] === true || !isWanted(run, reflectOn)) return;
    } catch (error) {
      return failed(error);
    }
    if (this.#pending >= REFLECTION_LIMITS.pending) {
      log("warn", "REFLECTION_SKIPPED", "Too many reflections are under way.", { runId: run.runId });
      return;
    }
    this.#pending += 1;
    const done = (): void => {
      this.#pending -= 1;
    };
    await tasks.track(this.#reflectOnSettled(run).catch(failed).finally(done));
  }

  async #reflectOnSettled(run: SettledRun): Promise<void> {
    const { runId, metadata, tags, input } = run;
    const ran = [...new Set(run.episodes.map(({ namespace }) => namespace))];
    const own = () => scopeOfRun(this.#parts.scope, { runId, metadata, tags, input }).namespace;
    const namespace = ran.length === 1 ? (ran[0] as string) : homeIn(ran, own());
    await this.#apply({ ...run, namespace }, { callbacks: [] });
  }

  #recalled(memory: RecalledMemory | DocumentInterface): RecalledMemory {
    const given = Object(memory) as typeof memory;
    if ("document" in given) return given;
    const shown = this.#parts.shown.get(given);
    if (shown) return { id: shown.item.id, handle: shown.item.handle, document: given };
    throw new QavrError(
      "INVALID_ARGUMENT",
      "memories holds something that no retrieval of this memory returned. Pass what the run was shown, or { id, handle, document }.",
    );
  }

  #namespacesOf({ runId, namespace, memories = [] }: ReflectionInput): readonly string[] {
    if (namespace !== undefined) return [namespace];
    const { runs, shown } = this.#parts;
    const ofMemories = memories.flatMap((memory) => {
      const known = shown.get("document" in memory ? memory.document : memory);
      return known ? [known.namespace] : [];
    });
    const ran = [...(runId === undefined ? [] : runs.namespacesOf(runId)), ...ofMemories];
    return ran.length > 0 ? [...new Set(ran)] : [ownNamespace(this.#parts)];
  }

  async #episodesOf(runId: string, namespaces: readonly string[]): Promise<EpisodeOfRun[]> {
    const { engine } = this.#parts.kit;
    const views = await Promise.all(namespaces.map((namespace) => engine.explain(runId, { namespace })));
    return views.flatMap((view) => (view ? [{ namespace: view.namespace, episode: view.episode }] : []));
  }
}

/** The namespace of a run's claims: the memory's, also where a retriever with one of its own, as for tools that agents share, came first. */
function homeIn(ran: readonly string[], own: string): string {
  return ran.includes(own) ? own : (ran[0] ?? own);
}

function isWanted(run: SettledRun, reflectOn: ReflectOn): boolean {
  if (typeof reflectOn === "function") return reflectOn(run);
  if (reflectOn === "always") return true;
  return run.reward !== null && run.reward !== undefined && Number(run.reward) < 0.5;
}

const OPTIONS: FieldRules<ReflectorOptions> = {
  memory: true,
  model: true,
  saveTo: [
    (sink) => typeof sink === "function" || isVectorStore(sink) || (isTextCollection(sink) && sink.add !== undefined),
    "a vector store, a collection with add, or a function that takes documents",
  ],
  reflectOn: [
    (choice) => typeof choice === "function" || choice === "failure" || choice === "always",
    '"failure", "always" or a function',
  ],
  wait: SWITCH,
  indexBy: oneOf("both", "claim", "query"),
  queryOf: FUNCTION,
  weight: RATE,
  structured: SWITCH,
};

/** @throws INVALID_ARGUMENT */
function assertReflectorOptions(options: ReflectorOptions): void {
  assertModel(options?.model);
  checkFields("A Reflector", options, OPTIONS);
}
