import { createRunSession, type RunKit, type RunSession, shortInput } from "@qavr/core/adapter";
import { storableId } from "../document-ids.js";
import type { MemoryParts } from "../memory-parts.js";
import { findRun } from "./find-run.js";
import { namespaceOf } from "./run-scope.js";
import { textsOf } from "./run-texts.js";
import type { RootRun } from "./run-tree.js";

/**
 * How an interrupted run waits. A LangGraph that announces interrupts announces resumes as well: the episode then waits for such a
 * run, and a new input on the thread leaves it alone. An interrupt that was only seen as an error (LangGraph before 1.4.17) is
 * resumed by the next run on the thread.
 */
export type Waiting = "announced" | "seen";

/** Prefixes of the alias under which an interrupted run's episode waits for the next run of its thread. */
const PREFIXES: Readonly<Record<Waiting, string>> = { announced: "interrupt:", seen: "thread:" };

/** The alias under which an interrupted run waits; undefined without a thread, since no run will resume it. */
export function suspensionAlias({ thread }: RootRun, waiting: Waiting): string | undefined {
  return thread === undefined ? undefined : storableId(`${PREFIXES[waiting]}${thread}`);
}

/** A run's second episode numbers its handles from here on, the third from twice as many: two namespaces may be asked at once. */
const HANDLES_PER_EPISODE = 100;

/**
 * The session of a root run. Its first ranking in a namespace resumes the episode that an interrupted run on the same thread
 * suspended, else opens a new one. The episode's aliases are the root run's id and the id of its trace, which is another one where a
 * function that LangSmith traces is around the run. Feedback on the trace belongs to the last run in it.
 */
export function sessionOf(kit: RunKit, root: RootRun): RunSession {
  let opened = 0;
  return createRunSession({
    engine: kit.engine,
    outcomeKey: root.id,
    isOver: () => root.over,
    open(namespace) {
      const lastHandle = root.lastHandle + HANDLES_PER_EPISODE * opened;
      opened += 1;
      return resumeThread(kit, root, namespace, root.id).then(
        (resumed) => resumed ?? kit.engine.open({ namespace, aliases: aliasesOf(root), lastHandle }),
      );
    },
  });
}

function aliasesOf({ id, trace }: RootRun): string[] {
  return trace === undefined ? [id] : [id, trace];
}

/**
 * Remembers the namespaces and the tool calls of a suspended run: a retriever may have a namespace of its own, and the run that resumes
 * this one may not ask it.
 *
 * @returns whether it still waits: a suspension that the store refused is tried again, perhaps after the thread went on
 */
export function noteSuspended(parts: JoiningParts, root: RootRun, alias: string): () => boolean {
  const { steps } = textsOf(root, { output: undefined });
  const calls = steps.flatMap((step) => ("tool" in step ? [{ tool: step.tool, input: shortInput(step.input) }] : []));
  const waiting = { namespaces: root.session.namespaces, calls };
  const key = waitingKey(memoryNamespace(parts, root), alias);
  parts.runs.waiting.set(key, waiting);
  return () => parts.runs.waiting.get(key) === waiting;
}

type JoiningParts = Pick<MemoryParts, "kit" | "runs" | "scope">;

/** Tenants may have threads of one name. */
function waitingKey(namespace: string | undefined, alias: string): string {
  return JSON.stringify([namespace, alias]);
}

/** The memory's namespace for a run; undefined where its function fails: the run then learns in those of its retrievers alone. */
function memoryNamespace(
  { kit, scope }: JoiningParts,
  { id: runId, metadata, tags, input, resumes }: RootRun,
): string | undefined {
  try {
    return namespaceOf(scope, { runId, metadata, tags, input });
  } catch (error) {
    const message = "An interrupted run's episode could not be looked for in the memory's namespace.";
    if (resumes) kit.failOpen("EPISODE_NOT_RESUMED", message, { runId, error });
    return undefined;
  }
}

/**
 * Gives a run that continues an interrupted thread the episode from before the interrupt: also a run that retrieves nothing itself,
 * or retrieved before LangGraph announced the resume.
 *
 * @throws only when failures of learning reach the caller
 */
export async function joinSuspended(parts: JoiningParts, root: RootRun): Promise<void> {
  const { kit, runs } = parts;
  const { id: runId, thread, session } = root;
  if (thread === undefined) return;
  const own = memoryNamespace(parts, root);
  const before = aliasesBefore(root).flatMap((alias) => runs.waiting.get(waitingKey(own, alias)) ?? []);
  if (root.resumes) root.callsBefore = before.flatMap(({ calls }) => calls);
  const others = before.flatMap(({ namespaces }) => namespaces);
  for (const namespace of new Set([own, ...others].filter((name) => name !== undefined))) {
    const hasOwn = session.namespaces.includes(namespace);
    if (hasOwn && !root.resumes) continue;
    // The run's id is the alias of one episode: its own, where it has one.
    const episode = await resumeThread(kit, root, namespace, hasOwn ? undefined : runId);
    if (episode !== undefined) session.add(namespace, episode);
  }
  if (!root.over) return;
  runs.joined(root);
  if (root.resumes) for (const alias of aliasesBefore(root)) runs.waiting.delete(waitingKey(own, alias));
}

async function resumeThread(
  kit: RunKit,
  root: RootRun,
  namespace: string,
  alias: string | undefined,
): Promise<string | undefined> {
  return kit.resume(aliasesBefore(root), { namespace, runId: root.id, alias });
}

/** The aliases under which the run that this one continues may wait. */
function aliasesBefore(root: RootRun): string[] {
  const ways: readonly Waiting[] = root.resumes ? ["announced", "seen"] : ["seen"];
  return ways.map((waiting) => suspensionAlias(root, waiting)).filter((name) => name !== undefined);
}

/** A handle in a prompt. */
const HANDLE = /\[m(\d{1,6})\]/g;

/**
 * Continues the handles of earlier turns. In a chat, the recall tool's earlier answers are still in the conversation; the run's own
 * memories get the handles after those, so that a report cannot name an earlier turn's memory by mistake. Without messages, or after
 * the run has shown memories, nothing changes.
 *
 * @param messages The conversation so far; tool messages are read.
 */
export function continueHandles({ runs }: Pick<MemoryParts, "runs">, callbacks: unknown, messages: unknown): void {
  if (!Array.isArray(messages)) return;
  const root = findRun(runs, callbacks).run?.root;
  if (!root || root.session.size > 0) return;
  for (const { type, text } of messages as readonly { readonly type?: unknown; readonly text?: unknown }[]) {
    if (type !== "tool" || typeof text !== "string") continue;
    for (const [, number] of text.matchAll(HANDLE)) root.lastHandle = Math.max(root.lastHandle, Number(number));
  }
}
