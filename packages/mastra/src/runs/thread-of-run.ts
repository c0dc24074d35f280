import type { MastraDBMessage } from "@mastra/core/memory";
import type { RequestContext } from "@mastra/core/request-context";

/** Thread and resource of a run, as Mastra gives them to processors. */
export interface ThreadOfRun {
  readonly threadId: string;
  readonly resourceId: string | undefined;
}

interface MastraMemoryShape {
  readonly thread?: { readonly id?: unknown } | null;
  readonly resourceId?: unknown;
}

/** The thread in a request context; undefined for none. */
export function threadIn(requestContext: RequestContext | undefined): ThreadOfRun | undefined {
  const value = requestContext?.get("MastraMemory") as MastraMemoryShape | null | undefined;
  const threadId = value?.thread?.id;
  if (typeof threadId !== "string" || threadId === "") return undefined;
  const resourceId = value?.resourceId;
  return { threadId, resourceId: typeof resourceId === "string" ? resourceId : undefined };
}

/**
 * The thread of a run that begins. Its messages name its thread and resource: an HTTP client may fill a request context, and a
 * context that several runs share names the latest of them. Undefined for a run without a thread.
 */
export function threadOfRun(
  requestContext: RequestContext | undefined,
  messages: readonly MastraDBMessage[],
): ThreadOfRun | undefined {
  const memory = threadIn(requestContext);
  const last = messages.at(-1);
  if (!memory || (last && !last.threadId)) return undefined;
  const { threadId = memory.threadId, resourceId = memory.resourceId } = last ?? {};
  return { threadId, resourceId };
}
