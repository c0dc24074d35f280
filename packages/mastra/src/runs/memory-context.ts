import type { MastraDBMessage } from "@mastra/core/memory";
import type { RequestContext } from "@mastra/core/request-context";

/** What Mastra tells processors about the memory of a run that has a thread. */
export interface MemoryContext {
  readonly threadId: string;
  readonly resourceId: string | undefined;
}

interface MemoryContextShape {
  readonly thread?: { readonly id?: unknown } | null;
  readonly resourceId?: unknown;
}

/** The memory context of a run; undefined for one without a thread. */
export function memoryContextOf(requestContext: RequestContext | undefined): MemoryContext | undefined {
  const value = requestContext?.get("MastraMemory") as MemoryContextShape | null | undefined;
  const threadId = value?.thread?.id;
  if (typeof threadId !== "string" || threadId === "") return undefined;
  const resourceId = value?.resourceId;
  return { threadId, resourceId: typeof resourceId === "string" ? resourceId : undefined };
}

/**
 * The memory context of a run that begins. Its messages say where it belongs: a request context may be filled by an HTTP client,
 * and where several runs share one it says where the latest of them belongs. Undefined for a run without a thread.
 */
export function memoryOfRun(
  requestContext: RequestContext | undefined,
  messages: readonly MastraDBMessage[],
): MemoryContext | undefined {
  const memory = memoryContextOf(requestContext);
  const last = messages.at(-1);
  if (!memory || (last && !last.threadId)) return undefined;
  const { threadId = memory.threadId, resourceId = memory.resourceId } = last ?? {};
  return { threadId, resourceId };
}
