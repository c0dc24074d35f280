import type { AsyncLocalStorage } from "node:async_hooks";
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { QavrError } from "@qavr/core";
import type { RunNode, RunTree } from "./run-tree.js";

/** A chain that has started; a prompt's has an id. */
interface Started extends Partial<PromptRun> {
  /** Undefined for a prompt that began after its root was closed. */
  run?: RunNode | undefined;
}

/** A prompt's run, with its metadata and that of the runs around it. */
export interface PromptRun {
  readonly id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Finds the run of a prompt from inside it. LangChain gives selectors of examples the prompt's values and no config, and equal values may
 * be under way in several runs, so the run is found by asynchronous context: LangChain asks the handlers, starts the run and formats the
 * prompt in one asynchronous function, and a value that is entered at the start reaches all that this function awaits later. LangChain's own
 * context exists only where LangGraph is loaded. Other chains are not followed, since a stream goes on in its reader's context. The
 * examples of a prompt that is formatted elsewhere have no outcome, which is logged as NO_OUTCOME_TRACKING.
 */
export interface PromptRuns {
  /**
   * Begins to follow prompts. Until then they cost nothing.
   * @throws UNSUPPORTED where the runtime or LangChain does not let it
   */
  follow(): void;
  /** Has the chains that this handler watches enter when they start. */
  watch(handler: BaseCallbackHandler): void;
  /** Names the prompt that has just entered. */
  name(prompt: PromptRun): void;
  /** The prompt's run around the caller; undefined outside prompts, and after the prompt has ended. */
  current(): PromptRun | undefined;
}

export function createPromptRuns(runs: RunTree): PromptRuns {
  let storage: AsyncLocalStorage<Started> | undefined;

  /** Starts a run as prompts do, and looks for its id where a prompt would be formatted. */
  const reachesPrompts = (): boolean => {
    const handler = BaseCallbackHandler.fromMethods({
      handleChainStart: (_chain, _inputs, runId) => prompts.name({ id: runId, metadata: {} }),
    });
    handler.awaitHandlers = true;
    prompts.watch(handler);
    const manager = new CallbackManager();
    manager.addHandler(handler);
    storage?.enterWith({});
    const id = crypto.randomUUID();
    void manager.handleChainStart({ lc: 1, type: "not_implemented", id: [] }, {}, id, "prompt");
    const found = prompts.current()?.id === id;
    storage?.enterWith({});
    return found;
  };

  const prompts: PromptRuns = {
    follow() {
      if (storage) return;
      storage = openStorage();
      if (reachesPrompts()) return;
      storage = undefined;
      throw unsupported(
        "The installed @langchain/core starts prompts in another asynchronous context than their callers'",
      );
    },
    // LangChain reads this at the start of each chain, in the asynchronous context in which the chain goes on. It calls the methods of a
    // handler inside a storage of its own, and Deno leaves that together with all that was entered in it.
    watch: (handler) =>
      Object.defineProperty(handler, "ignoreChain", {
        get: () => {
          storage?.enterWith({});
          return false;
        },
      }),
    name(prompt) {
      const started = storage?.getStore();
      if (started) Object.assign(started, { ...prompt, run: runs.find(prompt.id) });
    },
    current() {
      const { id, metadata = {}, run } = storage?.getStore() ?? {};
      return id === undefined || run?.end ? undefined : { id, metadata };
    },
  };
  return prompts;
}

/**
 * An import would keep bundles from running in browsers and on edge runtimes.
 * @throws UNSUPPORTED there
 */
function openStorage(): AsyncLocalStorage<Started> {
  try {
    const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
    const storage = new AsyncLocalStorage<Started>();
    storage.enterWith({});
    return storage;
  } catch (cause) {
    throw unsupported("This runtime has no AsyncLocalStorage with enterWith()", cause);
  }
}

function unsupported(reason: string, cause?: unknown): QavrError {
  const instead = "Retrieve the examples before the prompt: memory.retriever(store).invoke(question, config).";
  return new QavrError("UNSUPPORTED", `${reason}, so an example selector cannot find its run. ${instead}`, { cause });
}
