import type { DocumentInterface } from "@langchain/core/documents";
import { type RecentMap, type RunSession, recentMap, type ToolStep } from "@qavr/core/adapter";
import { type AnnouncedEnd, type Parts, returnedFailure } from "./run-end.js";

/** One retrieval that was shown inside a run. */
export interface ShownExposure {
  readonly episode: string;
  /** `Ranking.exposure`. */
  readonly exposure: number;
  /** The run in which it happened. */
  readonly run: RunNode;
  /** Without those that a later stage dropped. */
  items: readonly { readonly id: string; readonly handle: string; readonly document: DocumentInterface }[];
}

/** A run as its callbacks announce it. */
export interface StartedRun {
  readonly id: string;
  readonly parent: string | undefined;
  readonly kind: "chain" | "tool" | "retriever";
  /** Name of a tool. */
  readonly tool?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly input: unknown;
  /** Undefined for a run whose batch calls `invoke`. */
  readonly parts?: Parts | undefined;
}

/** A run under way or ended, while its root is open. */
export interface RunNode {
  readonly id: string;
  readonly root: RootRun;
  readonly parent: RunNode | undefined;
  readonly kind: StartedRun["kind"];
  /** As in {@link RunInfo}, its own name included. */
  readonly path: readonly string[];
  /** `thread_id` of its metadata, or its parent's. */
  readonly thread: string | undefined;
  /** The checkpoint of LangGraph that its caller named, from its metadata. */
  readonly checkpoint: unknown;
  readonly parts: Parts | undefined;
  failed: boolean;
  /** Number of its parts under way that have its own id: a branch hands the run id of its stream on. */
  namesakes: number;
  /** Undefined while it goes on. */
  end: AnnouncedEnd | undefined;
}

/** The call of a tool, or its end. */
export interface NotedStep {
  /** The tool's run. */
  readonly run: RunNode;
  readonly noted: { readonly tool: string; readonly input: string } | { readonly output: unknown };
}

/** The facts of an interrupted run, for the run that resumes it. */
export interface InterruptedRun {
  readonly namespaces: readonly string[];
  /** Its tool calls, those of the memory's own tools aside. */
  readonly calls: readonly ToolStep[];
}

/** An outermost run: its result is the outcome of everything retrieved inside it. */
export class RootRun {
  readonly id: string;
  readonly kind: StartedRun["kind"];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  /** An empty text until the end of a stream that LangChain started without it. */
  input: unknown;
  readonly nodes: Map<string, RunNode> = new Map();
  readonly exposures: ShownExposure[] = [];
  /** Exposures for a model that has not been called since. */
  readonly unread: Set<ShownExposure> = new Set();
  /** Its episodes in the engine. */
  readonly session: RunSession;
  thread: string | undefined;
  /** LangSmith's id of the trace that it is a part of, once a retrieval has seen it. */
  trace: string | undefined;
  /** Number of the last handle that earlier turns left in the conversation; its own memories get the ones after it. */
  lastHandle = 0;
  /** `announced` by LangGraph, or only `seen` as an error. */
  interrupted: "no" | "seen" | "announced" = "no";
  /** LangGraph announced that this run continues an interrupted one. */
  resumes = false;
  toolErrors = 0;
  /** True when the tool that ended last has failed, the memory's own tools aside. */
  lastToolFailed = false;
  /** Ids of calls of tools that did not fail. */
  readonly doneCalls: Set<unknown> = new Set();
  /** Ids of calls of the memory's own tools. */
  readonly ownCalls: Set<unknown> = new Set();
  /** Calls and ends of its tools, in their order. */
  readonly steps: NotedStep[] = [];
  /** The calls of the interrupted run that it continues. */
  callsBefore: readonly ToolStep[] = [];
  touched: number;
  /** Signals of its retrievals that may abort it. They are needed because an abort may have any error as its reason. */
  readonly signals: Set<AbortSignal> = new Set();
  /** True after its end was announced or it was dropped: nothing may be recorded in it any more. */
  over = false;

  constructor({ id, kind, metadata, tags, input }: StartedRun, now: number, sessionOf: RunTreeOptions["sessionOf"]) {
    this.id = id;
    this.kind = kind;
    this.metadata = metadata;
    this.tags = tags;
    this.input = input;
    this.touched = now;
    this.session = sessionOf(this);
  }
}

export interface RunTreeOptions {
  /** A root without any event for this long is dropped. Ms. */
  readonly ttl: number;
  /** Open roots kept; beyond it the oldest is dropped. */
  readonly maxRoots: number;
  /** Makes the session of a new root. */
  readonly sessionOf: (root: RootRun) => RunSession;
  /** Unix ms. */
  readonly clock: () => number;
}

/** The runs under way, keyed by run id, so that any number of them can share one handler. */
export interface RunTree {
  /** Distinguishes this tree from others in one process. */
  readonly id: string;
  /** Undefined for a known run, and for a late run of a closed root. */
  start(run: StartedRun): RunNode | undefined;
  find(runId: string | undefined): RunNode | undefined;
  /** True for a run that is open or was closed recently. */
  knows(runId: string): boolean;
  /** Drops a root and its runs. Synchronous: a second registration of the handler must find it gone. */
  close(root: RootRun): void;
  /** Notes the namespaces of a closed root, which joins suspended episodes at its end. */
  joined(root: RootRun): void;
  /** The namespaces of a run, also for a while after it closed; those of a trace after its runs have closed. */
  namespacesOf(runId: string): readonly string[];
  /**
   * The inputs of streams until their runs start: LangChain announces those of functions, maps and retries when they end. Bounded, since
   * an aborted stream may never start.
   */
  readonly starting: RecentMap<string, unknown>;
  /** The interrupted runs of this process, by the memory's namespace and the alias under which they wait. */
  readonly waiting: RecentMap<string, InterruptedRun>;
  /** Open roots. */
  readonly open: number;
  /** Numbers of runs held: those of open roots, and the ids of recently closed ones. */
  readonly held: { readonly open: number; readonly closed: number };
}

/** Run ids of closed roots that are kept: late callbacks must not look like new roots. About 2 MB. */
export const REMEMBERED_RUNS = 10_000;

/** Open roots are swept at most this often per ttl: streams that their consumer left never end. */
const SWEEPS_PER_TTL = 60;

export function createRunTree({ ttl, maxRoots, clock, sessionOf }: RunTreeOptions): RunTree {
  const roots = new Map<string, RootRun>();
  const nodes = new Map<string, RunNode>();
  const closed = recentMap<string, readonly string[]>(REMEMBERED_RUNS);
  const traces = recentMap<string, readonly string[]>(REMEMBERED_RUNS);
  let swept = clock();

  const close = (root: RootRun): void => {
    if (!roots.delete(root.id)) return;
    root.over = true;
    const { trace, session } = root;
    const { namespaces } = session;
    if (trace !== undefined) traces.set(trace, [...new Set([...(traces.get(trace) ?? []), ...namespaces])]);
    for (const id of root.nodes.keys()) {
      nodes.delete(id);
      closed.set(id, namespaces);
    }
  };
  const sweep = (now: number): void => {
    for (const root of roots.values()) {
      if (roots.size <= maxRoots) break;
      close(root);
    }
    // Also when the clock was set back: from then on the time of earlier roots begins.
    if (Math.abs(now - swept) < ttl / SWEEPS_PER_TTL) return;
    swept = now;
    for (const root of roots.values()) {
      root.touched = Math.min(root.touched, now);
      if (now - root.touched > ttl) close(root);
    }
  };

  return {
    id: crypto.randomUUID(),
    start(run) {
      const known = nodes.get(run.id);
      if (known) {
        if (run.parent === run.id) known.namesakes += 1;
        return undefined;
      }
      const now = clock();
      const parent = run.parent === undefined ? undefined : nodes.get(run.parent);
      if (!parent && run.parent !== undefined && closed.has(run.parent)) {
        // A node that outlived its aborted root.
        closed.set(run.id, closed.get(run.parent) ?? []);
        return undefined;
      }
      const root = parent?.root ?? new RootRun(run, now, sessionOf);
      if (!parent) {
        roots.set(root.id, root);
        sweep(now);
      }
      const thread = threadOf(run) ?? parent?.thread;
      const { id, kind, parts, metadata } = run;
      const checkpoint = metadata.checkpoint_id;
      const running = { failed: false, namesakes: 0, end: undefined };
      const path = pathOf(run, parent?.path);
      const node: RunNode = { id, root, parent, kind, path, thread, checkpoint, parts, ...running };
      // A chain around a graph does not see the graph's thread; it is the root's thread all the same.
      root.thread ??= thread;
      root.touched = now;
      root.nodes.set(run.id, node);
      nodes.set(run.id, node);
      return node;
    },
    find: (runId) => (runId === undefined ? undefined : nodes.get(runId)),
    knows: (runId) => nodes.has(runId) || closed.has(runId),
    close,
    namespacesOf(runId) {
      const node = nodes.get(runId);
      return node ? node.root.session.namespaces : (closed.get(runId) ?? traces.get(runId) ?? []);
    },
    starting: recentMap(REMEMBERED_RUNS),
    waiting: recentMap(REMEMBERED_RUNS),
    joined: ({ id, session }) => closed.set(id, session.namespaces),
    get open() {
      return roots.size;
    },
    get held() {
      return { open: nodes.size, closed: closed.size };
    },
  };
}

/** True if `ancestor` is `run` or one of its ancestors. */
export function isWithin(run: RunNode, ancestor: RunNode): boolean {
  for (let node: RunNode | undefined = run; node; node = node.parent) if (node === ancestor) return true;
  return false;
}

/**
 * True if the run is inside a part below the root that failed, which the root then did without. Ask one microtask after the part's end.
 */
export function isInFailedPart(run: RunNode): boolean {
  for (let node: RunNode | undefined = run; node?.parent; node = node.parent) {
    if (node.failed || (node.end && returnedFailure(node.end))) return true;
  }
  return false;
}

/** The path of a run inside another one. Runs inherit the name of the node around them in their metadata. */
function pathOf({ metadata, tool }: StartedRun, around: readonly string[] = []): readonly string[] {
  const names = [nodeOf(metadata), tool].filter((name) => name !== undefined && !around.includes(name));
  return names.length === 0 ? around : [...around, ...(names as string[])];
}

/** The LangGraph node of a run, from its metadata. */
export function nodeOf({ langgraph_node: node }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof node === "string" ? node : undefined;
}

function threadOf({ metadata }: StartedRun): string | undefined {
  const thread = metadata.thread_id;
  return typeof thread === "string" && thread !== "" ? thread : typeof thread === "number" ? String(thread) : undefined;
}
