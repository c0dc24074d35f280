import type { MemoryConfigInternal } from "@mastra/core/memory";
import type { RequestContext } from "@mastra/core/request-context";

/** What Mastra tells processors about the memory of a run that has a thread. */
export interface MemoryContext {
  readonly threadId: string;
  readonly resourceId: string | undefined;
  readonly memoryConfig: MemoryConfigInternal | undefined;
}

interface MemoryContextShape {
  readonly thread?: { readonly id?: unknown } | null;
  readonly resourceId?: unknown;
  readonly memoryConfig?: MemoryConfigInternal;
}

/** The memory context of a run; undefined for one without a thread. */
export function memoryContextOf(requestContext: RequestContext | undefined): MemoryContext | undefined {
  const value = requestContext?.get("MastraMemory") as MemoryContextShape | null | undefined;
  const threadId = value?.thread?.id;
  if (typeof threadId !== "string" || threadId === "") return undefined;
  const resourceId = value?.resourceId;
  return {
    threadId,
    resourceId: typeof resourceId === "string" ? resourceId : undefined,
    memoryConfig: value?.memoryConfig,
  };
}
