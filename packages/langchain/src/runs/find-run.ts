import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { MARKS, markOf } from "../marks.js";
import { type RunInfo, SCOPE_KEYS } from "./run-scope.js";
import { nodeOf, type RunNode, type RunTree } from "./run-tree.js";
import { tracedRuns } from "./traced-run.js";

/** Key in the configs of LangGraph's nodes for the signals that may abort the graph. */
const GRAPH_SIGNALS = "__pregel_abort_signals";

/** Place of a retrieval in the application's runs. */
export interface RunSite {
  /** The tracked run; undefined when there is none. */
  readonly run: RunNode | undefined;
  /** True when the caller's own callbacks carry the handler, which will then see the run's end. */
  readonly tracked: boolean;
  /** True when the handler had seen the run's root end already. */
  readonly isLate: boolean;
  readonly info: RunInfo;
  /** The caller's run and its handlers, tracers among them. */
  readonly caller: { readonly runId: string | undefined; readonly handlers: readonly unknown[] };
}

/** The parts of LangChain's callback managers that tell where a run hangs. */
interface ManagerShape {
  readonly runId?: unknown;
  readonly handlers?: unknown;
  readonly inheritableHandlers?: unknown;
  readonly inheritableMetadata?: unknown;
  readonly inheritableTags?: unknown;
  getParentRunId?(): unknown;
}

/**
 * The run that a retrieval belongs to: read from the callbacks it was given (a run manager, a callback manager or a list of
 * handlers) or, when it was given none, from the context that LangGraph keeps for the code inside nodes and tools.
 */
export function findRun(runs: RunTree, callbacks: unknown): RunSite {
  const config = AsyncLocalStorageProviderSingleton.getRunnableConfig();
  // A graph without any callbacks makes no manager for its nodes.
  const bare = { inheritableMetadata: config?.metadata, inheritableTags: config?.tags };
  const manager: ManagerShape = managerOf(callbacks) ?? managerOf(config?.callbacks) ?? bare;
  const runId = runIdOf(manager);
  const run = runs.find(runId);
  for (const signal of signalsIn(config)) run?.root.signals.add(signal);
  const handlers = [callbacks, manager.inheritableHandlers ?? manager.handlers].filter(Array.isArray).flat();
  const trace = traceOf(runId, handlers);
  // A retrieval that has lost its config is in the trace of a run that has an episode of its own.
  if (run && trace !== undefined && !runs.knows(trace)) run.root.trace ??= trace;
  const listened = handlers.some((handler) => markOf(handler, MARKS.runTree) === runs);
  // A retriever handles its own runs, whose ends are no evidence.
  const tracked = listened || run?.root.kind === "chain";
  return {
    run,
    tracked,
    isLate: run === undefined && runId !== undefined && runs.knows(runId),
    caller: { runId, handlers },
    info: run && run.root.kind !== "retriever" ? infoOf(run, manager) : callerInfo(manager, run?.root.id ?? runId),
  };
}

/** Adds a caller's signal to those that may abort its run. */
export function addSignal(
  runs: RunTree,
  { callbacks, signal }: { readonly callbacks?: Callbacks | undefined; readonly signal?: AbortSignal | undefined },
): void {
  if (signal) runs.find(runIdOf(managerOf(callbacks)))?.root.signals.add(signal);
}

/** True when nothing may be recorded any more: an aborted run ends while its retrievals are still under way. */
export function isOver({ run, isLate }: RunSite): boolean {
  return run?.root.over ?? isLate;
}

/** The id of a run's trace. LangSmith's `traceable` and `evaluate` put runs around it which no callback announces. */
function traceOf(runId: string | undefined, handlers: readonly unknown[]): string | undefined {
  return tracedRuns(runId, handlers)
    .map(({ trace_id: trace }) => trace)
    .find((trace): trace is string => typeof trace === "string" && trace !== "");
}

/**
 * The signal of a config, and the signal of the graph's caller: LangGraph drops a node's own signal at the end of its step, so that it
 * misses a later abort.
 */
function signalsIn(config: RunnableConfig | undefined): AbortSignal[] {
  const ofGraph = config?.configurable?.[GRAPH_SIGNALS] as { readonly externalAbortSignal?: AbortSignal } | undefined;
  return [config?.signal, ofGraph?.externalAbortSignal].filter((signal) => signal !== undefined);
}

/** The root's facts. A part of the run may name another context in its metadata: a router knows it only during the run. */
function infoOf({ root, path }: RunNode, manager: ManagerShape): RunInfo {
  const { context: key } = SCOPE_KEYS;
  const named = metadataOf(manager)[key];
  const metadata = named === undefined ? root.metadata : { ...root.metadata, [key]: named };
  return { runId: root.id, metadata, path, tags: root.tags, input: root.input };
}

/** For a retrieval outside any chain: the caller's metadata and tags, without the retriever's own, which would replace them. */
function callerInfo(manager: ManagerShape, runId: string | undefined): RunInfo {
  const tags = manager.inheritableTags;
  const metadata = metadataOf(manager);
  const node = nodeOf(metadata);
  return {
    runId,
    metadata,
    path: node === undefined ? [] : [node],
    tags: Array.isArray(tags) ? (tags as string[]) : [],
    input: undefined,
  };
}

/** The metadata that parts of a run inherit. */
function metadataOf({ inheritableMetadata: metadata }: ManagerShape): Readonly<Record<string, unknown>> {
  return typeof metadata === "object" && metadata !== null ? (metadata as Record<string, unknown>) : {};
}

function managerOf(callbacks: unknown): ManagerShape | undefined {
  return typeof callbacks === "object" && callbacks !== null && !Array.isArray(callbacks) ? callbacks : undefined;
}

/** A run manager knows its run, a manager for children knows their parent. */
function runIdOf(manager: ManagerShape | undefined): string | undefined {
  const id = manager?.runId ?? manager?.getParentRunId?.();
  return typeof id === "string" ? id : undefined;
}
