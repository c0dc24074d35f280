import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Callbacks } from "@langchain/core/callbacks/manager";
import { type Runnable as LangChainRunnable, RunnableBinding } from "@langchain/core/runnables";
import { IterableReadableStream } from "@langchain/core/utils/stream";
import { QavrError } from "@qavr/core";
import type { OutcomeHandler } from "./outcome-handler.js";
import { isAbort } from "./run-errors.js";
import type { RunTree } from "./run-tree.js";

/** Anything whose runs can be watched: a chain, a graph, an agent. */
export interface Trackable {
  withConfig(config: { callbacks: OutcomeHandler[] }): unknown;
}

/**
 * The runnable with a handler attached to each of its runs.
 *
 * @throws UNSUPPORTED for something without `withConfig`, and for a retriever or a tool
 */
export function trackRuns<Runnable extends Trackable>(
  runnable: Runnable,
  handler: OutcomeHandler,
  runs: RunTree,
): Runnable {
  if (typeof runnable?.withConfig !== "function") {
    throw new QavrError("UNSUPPORTED", "Only something with withConfig can be tracked: a chain, a graph, an agent.");
  }
  const root = rootOf(runnable) as { readonly [Member in "_getRelevantDocuments" | "_call" | "schema"]?: unknown };
  if (typeof root._getRelevantDocuments === "function") {
    throw new QavrError(
      "UNSUPPORTED",
      "A retriever's end is no evidence about the documents that it found. Track the chain, graph or agent that works with it, or report on its run by id.",
    );
  }
  if (typeof root._call === "function" && root.schema !== undefined) {
    throw new QavrError(
      "UNSUPPORTED",
      "The end of a tool's call is not the end of a task. Track the agent, chain or graph that calls it, a RunnableLambda around it, or report on its run by id.",
    );
  }
  const config = { callbacks: [handler] };
  // A retry is a binding that applies its own config to its attempts only, so that withConfig would make each attempt look
  // like a run of its own. A binding around it reaches the run as a whole.
  if ("bound" in runnable) {
    const bound = runnable as unknown as LangChainRunnable;
    return endingLeftStreams(new RunnableBinding({ bound, config, kwargs: {} }) as never, handler, runs);
  }
  return endingLeftStreams(runnable.withConfig(config) as Runnable, handler, runs);
}

/** A runnable's stream, as its parts call it. */
type Stream = (input: unknown, options?: StreamOptions) => Promise<AsyncIterator<unknown>>;
interface StreamOptions {
  readonly runId?: string;
  readonly signal?: AbortSignal;
  /** Of the events that are streamed. */
  readonly version?: string;
  readonly encoding?: unknown;
}

/** What is streamed. */
interface Streamed {
  stream?: Stream;
  streamEvents?: (input: unknown, options?: StreamOptions, filter?: unknown) => AsyncIterator<unknown>;
  config?: StreamOptions;
}

/** Methods whose result is tracked as well. That of a pipe is not: what comes after the tracked runnable is no part of it. */
const DERIVATIONS = ["withConfig", "withRetry", "withListeners", "withFallbacks"] as const;
type Derivation = (typeof DERIVATIONS)[number];
/** Those with a run around the tracked one, whose attempts are its parts. */
const AROUND: readonly Derivation[] = ["withRetry", "withFallbacks"];

/**
 * Ends the run of a stream whose reader left it or aborted it: LangChain announces no end for its own chains. The result is unknown.
 * A graph announces how it stopped, and is asked first.
 */
function endingLeftStreams<Runnable>(tracked: Runnable, handler: OutcomeHandler, runs: RunTree): Runnable {
  const target = tracked as Streamed & { graph?: Streamed } & Record<Derivation, (given: unknown) => unknown>;
  // An agent of LangChain has a graph of its own, which all of its ways to stream ask.
  const streamed = typeof target.graph?.stream === "function" ? target.graph : target;
  const { stream } = streamed;
  if (typeof stream !== "function") return tracked;
  for (const derivation of DERIVATIONS) {
    const derive = target[derivation];
    target[derivation] = (given) => {
      // The callbacks of a new config replace those of the old one in LangChain's own chains.
      const config = given as { readonly callbacks?: Callbacks } | undefined;
      const isReplaced = derivation === "withConfig" && config && "callbacks" in config;
      const kept = isReplaced ? { ...config, callbacks: withHandler(config.callbacks, handler) } : given;
      const derived = derive.call(tracked, kept);
      if (AROUND.includes(derivation)) return trackRuns(derived as Trackable, handler, runs);
      return endingLeftStreams(derived, handler, runs);
    };
  }
  const endLeft = async (runId: string, error: unknown): Promise<void> => {
    const run = runs.find(runId);
    if (!run || run.parent) return;
    // Its parts announce no end either.
    run.namesakes = 0;
    await handler.handleChainError(error, runId);
  };
  const endAborted = async (runId: string, error: unknown, signal?: AbortSignal): Promise<void> => {
    if (isAbort(error, signal ? [signal] : [])) await endLeft(runId, error);
  };
  // A new stream around it notices each way to leave it: by an iterator, a reader or another stream that it is piped through. It reads a
  // chunk when it is asked for one, so that the runnable is no further than its own stream would be.
  const leavable = (chunks: AsyncIterator<unknown>, runId: string, options?: StreamOptions): AsyncIterator<unknown> =>
    new IterableReadableStream(
      {
        async pull(controller) {
          try {
            const { done, value } = await chunks.next();
            if (done) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            await endAborted(runId, error, options?.signal);
            throw error;
          }
        },
        async cancel() {
          try {
            await chunks.return?.();
          } finally {
            await endLeft(runId, new DOMException("The reader left the stream.", "AbortError"));
          }
        },
      },
      { highWaterMark: 0 },
    );
  const start = (input: unknown, options?: StreamOptions): string => {
    const runId = options?.runId ?? configuredRunId(streamed) ?? crypto.randomUUID();
    runs.starting.set(runId, input);
    return runId;
  };
  streamed.stream = async (input, options) => {
    const runId = start(input, options);
    // A graph whose events are encoded encodes its chunks as well, stops at the first one and announces no end.
    const given = options?.version ? { ...options, runId, encoding: undefined } : { ...options, runId };
    try {
      const chunks = await stream.call(streamed, input, given);
      return typeof chunks?.next === "function" ? leavable(chunks, runId, options) : chunks;
    } catch (error) {
      await endAborted(runId, error, options?.signal);
      throw error;
    }
  };
  // A binding asks the runnable inside it for events, which reads a stream of its own.
  const { streamEvents } = streamed;
  if ("bound" in streamed && streamEvents) {
    streamed.streamEvents = (input, options, filter) => {
      // With a run id of its caller, LangChain drops events of this version.
      if (options?.version === "v1") return streamEvents.call(streamed, input, options, filter);
      const runId = start(input, options);
      return leavable(streamEvents.call(streamed, input, { ...options, runId }, filter), runId, options);
    };
  }
  return tracked;
}

/** The run id in a runnable's own config, which that of a call replaces. */
function configuredRunId({ config, bound }: { config?: StreamOptions; bound?: object }): string | undefined {
  return config?.runId ?? (bound && configuredRunId(bound));
}

/**
 * The runnable of the outermost run: a binding (`withConfig`, `bind`) has no run besides its runnable's. A retry and a `RunnableEach` have a run
 * of their own around those of their runnable.
 */
function rootOf(runnable: object): object {
  const isBinding = "kwargs" in runnable && !("maxAttemptNumber" in runnable);
  const { bound } = runnable as { readonly bound?: unknown };
  return isBinding && typeof bound === "object" && bound !== null ? rootOf(bound) : runnable;
}

/** The callbacks with a handler among them. */
export function withHandler(callbacks: Callbacks | undefined, handler: BaseCallbackHandler): Callbacks {
  if (!callbacks) return [handler];
  if (Array.isArray(callbacks) && callbacks.includes(handler)) return callbacks;
  return Array.isArray(callbacks) ? [...callbacks, handler] : callbacks.copy([handler], false);
}
