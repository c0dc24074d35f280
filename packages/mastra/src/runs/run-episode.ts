import type { RankedItem } from "@qavr/core";
import type { RunScope } from "./run-scope.js";

/** A memory that a run was shown. */
export interface RecalledMemory {
  readonly id: string;
  /** Short name for prompts and reports: `m1`. */
  readonly handle: string;
  /** Where it came from: the collection of messages (`messages` unless named otherwise), or another one's name. */
  readonly collection: string;
  /** Its text, where the vector store keeps it. */
  readonly text: string | undefined;
  readonly item: RankedItem;
}

/** One agent run as this package sees it, from its input to its end. */
export interface RunEpisode extends RunScope {
  /** The engine's episode, another one when the engine has given up the first; of a run that is not recorded an id of its own. */
  episode: string;
  readonly threadId: string;
  readonly resourceId: string | undefined;
  /** The trace that it is part of, where there is one. */
  readonly traceId: string | undefined;
  /** Mastra's id, known from the first part of the answer on. */
  runId: string | undefined;
  /** The id that its request context says it will go by; Mastra has not said so yet. */
  readonly expectedAs: string | undefined;
  /** Memories shown in this process, in the order of their ranking. */
  readonly memories: RecalledMemory[];
  /** Ids of the tool calls that failed. */
  readonly failedCalls: Set<string>;
  /** Ids of the tool calls that nobody has answered yet. */
  readonly openCalls: Set<string>;
  /** True between the start of a step and the first result of a tool in it. */
  startsStep: boolean;
  /** Whether the last step called a tool of the task. */
  worked: boolean;
  /** Whether the last step called a tool of the memory itself: it did its books there. */
  keptBooks: boolean;
  /** Whether a tool failed in the last step that called any. */
  lastToolsFailed: boolean;
  /** False for a run that is not to be learned from. */
  readonly recorded: boolean;
  /** The runs under way that use the same request context, itself included: what that says may be another's. */
  beside: Set<RunEpisode>;
  /** Where its episode waits while it is suspended. */
  parkedAs: string | undefined;
  /** True when it was taken up again from its suspension: it has memories from before. */
  readonly resumed: boolean;
  ended: boolean;
}

/** A run at its beginning. */
export function newRun(
  known: RunScope &
    Pick<RunEpisode, "episode" | "threadId" | "resourceId" | "runId"> &
    Partial<Pick<RunEpisode, "resumed" | "recorded" | "expectedAs" | "traceId">>,
): RunEpisode {
  return {
    resumed: false,
    recorded: true,
    expectedAs: undefined,
    traceId: undefined,
    ...known,
    memories: [],
    failedCalls: new Set(),
    openCalls: new Set(),
    startsStep: false,
    worked: false,
    keptBooks: false,
    lastToolsFailed: false,
    beside: new Set(),
    parkedAs: undefined,
    ended: false,
  };
}

/** Whether something about a run is recorded, or waits to be: it may be learned from, and it was shown something. */
export function hasLeft({ recorded, memories, resumed }: RunEpisode): boolean {
  return recorded && (memories.length > 0 || resumed);
}
