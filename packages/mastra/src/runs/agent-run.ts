import type { RankedItem, Ranking } from "@qavr/core";
import type { EpisodeOfRun, RunScope, RunSession, ToolStep } from "@qavr/core/adapter";

/** A memory that an agent's run was shown. */
export interface RecalledEntry {
  readonly id: string;
  /** Short name for prompts and reports: `m1`. */
  readonly handle: string;
  /** The collection of messages (`messages` unless named otherwise), or another one's name. */
  readonly collection: string;
  /** Its text, where the vector store keeps it. */
  readonly text: string | undefined;
  readonly item: RankedItem;
}

/** The memories that a ranking shows. @param textOf The text of a shown memory, by its place in the ranking. */
export function entriesOf(
  { items }: Ranking,
  collection: string,
  textOf: (item: RankedItem, place: number) => string | undefined,
): RecalledEntry[] {
  return items.map((item, place) => ({
    id: item.id,
    handle: item.handle,
    collection,
    text: textOf(item, place),
    item,
  }));
}

/** A tool call, or its result. */
export type NotedStep = ToolStep & {
  readonly callId: string;
  /** Number of the run's memories by then. */
  readonly memories: number;
};

/** A prompt after the recall, before any later processor. */
export interface RecallPrompt {
  /** The user's request. */
  readonly request: string | undefined;
  /** Ids of its messages. */
  readonly ids: ReadonlySet<string>;
  /** Its system messages, which hold the memories of other threads and of collections. */
  readonly system: readonly string[];
}

/** A run with memories that has ended. */
export interface EndedRun {
  readonly episodes: Promise<readonly EpisodeOfRun[]>;
  /** Settles when its end is recorded. */
  readonly recorded: Promise<unknown>;
  /** A later verdict is recorded. An end that is tried again must not follow it, since of one tier the later outcome counts. */
  isJudged: boolean;
}

/** A question's run and those that go on with it. */
export interface Turn {
  /** Ids of their tool calls. */
  readonly calls: string[];
  /** Those that have ended with memories. */
  readonly runs: EndedRun[];
}

/** One run of an agent, from its input to its end. */
export class AgentRun implements RunScope {
  readonly namespace: string;
  readonly context: string;
  /** Its episode in the engine; undefined for a run that is not to be learned from. */
  readonly session: RunSession | undefined;
  /** Id of the episode, which changes when the engine gives one up; an unrecorded run has an id of its own. */
  episode: string;
  readonly threadId: string;
  readonly resourceId: string | undefined;
  /** The trace that it is part of, where there is one. */
  readonly traceId: string | undefined;
  /** Mastra's id, known from the first part of the answer on. */
  runId: string | undefined;
  /** The run id that its request context announced, before Mastra gives it. */
  readonly expectedAs: string | undefined;
  /** Memories shown in this process, in the order of their ranking. */
  readonly memories: RecalledEntry[] = [];
  /** The rankings that chose them. */
  readonly rankings: Ranking[] = [];
  /** The prompt after the recall, until its memories are compared with the model's. */
  prompt: RecallPrompt | undefined;
  /** Ids of earlier questions that the recall left out. */
  readonly dropped: string[] = [];
  /** The user's request; undefined for none, and for a run that was resumed. */
  text: string | undefined;
  /** The users' texts in this prompt, earlier turns included. */
  request = "";
  /** Its tool calls and their results, the memory's own tools aside. */
  readonly steps: NotedStep[] = [];
  /** Ids of the tool calls that failed. */
  readonly failedCalls: Set<string> = new Set();
  /** Ids of the tool calls without a result. */
  readonly openCalls: Set<string> = new Set();
  /** True between the start of a step and the first result of a tool in it. */
  startsStep = false;
  /** True when the last step called a tool of the task. */
  usedTaskTools = false;
  /** Names of the tools for procedures that it was given, which are the memory's own. */
  readonly procedureTools: Set<string> = new Set();
  /** True when it loaded or reported on a procedure, which its listing may not have shown. */
  tookProcedure = false;
  /** True when the last step called a tool of the memory itself. */
  usedMemoryTools = false;
  /** The worst end of a tool call in the last step with results of tools. */
  lastTools: "done" | "declined" | "failed" = "done";
  /** The runs under way with the same request context, itself included: the context may name another of them. */
  beside: Set<AgentRun> = new Set();
  /** True when it only chooses the next step of a network. */
  readonly routes: boolean;
  /** True when its input has no new message. Early versions of Mastra 1 recall again for a run that is resumed. */
  readonly mayContinue: boolean;
  readonly turn: Turn;
  /** True when its turn began with an earlier run. */
  readonly goesOn: boolean;
  /** True when it was resumed: it has memories from before its suspension. */
  resumed: boolean;
  ended = false;

  constructor(known: KnownRun) {
    this.session = known.session;
    this.episode = known.episode;
    this.namespace = known.namespace;
    this.context = known.context;
    this.threadId = known.threadId;
    this.resourceId = known.resourceId;
    this.traceId = known.traceId;
    this.runId = known.runId;
    this.expectedAs = known.expectedAs;
    this.routes = known.routes ?? false;
    this.mayContinue = known.mayContinue ?? false;
    this.turn = known.turn ?? { calls: [], runs: [] };
    this.goesOn = known.turn !== undefined;
    this.resumed = known.resumed ?? false;
  }
}

/** The facts of a run at its beginning. */
export type KnownRun = RunScope &
  Pick<AgentRun, "session" | "episode" | "threadId" | "resourceId"> &
  Partial<Pick<AgentRun, "routes" | "mayContinue" | "resumed" | "runId" | "expectedAs" | "traceId">> & {
    /** That of an earlier run. @default its own */
    readonly turn?: Turn | undefined;
  };

/** True for a run with recorded memories, also one that is shown none to measure their worth, or with memories that will be recorded at its end. */
export function hasRecordedMemories({ session, memories, rankings, resumed, tookProcedure }: AgentRun): boolean {
  const hasAny = memories.length > 0 || resumed || tookProcedure || rankings.some(({ memoryOff }) => memoryOff);
  return session !== undefined && hasAny;
}
