import type { MastraDBMessage } from "@mastra/core/memory";
import type { RequestContext } from "@mastra/core/request-context";
import type { Memory } from "@mastra/memory";
import { copyLearned, forget, revise } from "@qavr/core/maintenance";
import type { OwnLogCode } from "./log-codes.js";
import type { MemoryParts } from "./memory-parts.js";
import { MESSAGES } from "./recall/collections.js";
import { textIn, textOfParts } from "./recall/plan-recall.js";
import { storable, threadAlias } from "./runs/aliases.js";
import { type GivenContext, namespaceOf } from "./runs/run-scope.js";

/** Ids per ledger entry. */
const BATCH = 500;

/** Ids of messages, by the namespaces that may have evidence about them. */
export type MessageIdsByNamespace = ReadonlyMap<string, readonly string[]>;

/** The namespace in which to forget messages, where the `namespace` option is a function of the request context. */
export interface ForgetScope {
  /** The namespace itself. */
  readonly namespace?: string | undefined;
  /** Argument for the function. */
  readonly requestContext?: GivenContext | undefined;
}

/** The log lines of a change that cannot reach the evidence about messages. */
interface Obstacles {
  readonly code: OwnLogCode;
  readonly unlisted: string;
  /** The namespace needs a request context, and there is none. */
  readonly unresolved: string;
}

const DELETED: Obstacles = {
  code: "NOT_FORGOTTEN",
  unlisted: "Messages to delete could not be listed.",
  unresolved:
    "The namespace of deleted messages depends on a request context, and none was given, so what was learned about them stays. Give " +
    "deleteThread and deleteMessages { namespace } or { requestContext }. To forget these now, call deleteMessages(ids, undefined, { namespace }).",
};

const CHANGED: Obstacles = {
  code: "NOT_REVISED",
  unlisted: "The namespace of changed or cloned messages could not be found.",
  unresolved:
    "The namespace of changed or cloned messages depends on a request context, and none was given: changed ones keep their evidence for " +
    "now, clones start cold. Let qavr.namespace follow from the thread and resource.",
};

interface MessageShape {
  readonly id: string;
  readonly threadId?: string | undefined;
  readonly resourceId?: string | undefined;
}

/** The messages to forget, listed before they are deleted. Rejects only when failures reach the caller. */
export async function messagesToForget(
  memory: Memory,
  parts: MemoryParts,
  input: Parameters<Memory["deleteMessages"]>[0],
  scope: ForgetScope,
): Promise<MessageIdsByNamespace> {
  if (!parts.enabled || !Array.isArray(input)) return new Map();
  const ids = input.flatMap((item: unknown) => {
    const id = typeof item === "string" ? item : (item as { id?: unknown } | null)?.id;
    return typeof id === "string" ? [id] : [];
  });
  if (typeof parts.options.namespace !== "function" || scope.namespace !== undefined) {
    return byNamespace(parts, scope, DELETED, async () => ids.map((id) => ({ id })));
  }
  return byNamespace(parts, scope, DELETED, async () => {
    const store = await memory.storage.getStore("memory");
    return (await store?.listMessagesById({ messageIds: ids }))?.messages ?? [];
  });
}

/** The messages of a thread. Rejects only when failures reach the caller. */
export async function threadMessages(
  memory: Memory,
  parts: MemoryParts,
  threadId: string,
  scope: ForgetScope,
): Promise<MessageIdsByNamespace> {
  if (!parts.enabled) return new Map();
  return byNamespace(parts, scope, DELETED, async () => {
    const store = await memory.storage.getStore("memory");
    return (await store?.listMessages({ threadId, perPage: false }))?.messages ?? [];
  });
}

/** Forgets the learned state of deleted messages. Rejects only when failures reach the caller. */
export async function forgetMessages({ kit, messages }: MemoryParts, deleted: MessageIdsByNamespace): Promise<void> {
  try {
    for (const [namespace, ids] of deleted) {
      for (let start = 0; start < ids.length; start += BATCH) {
        const batch = ids.slice(start, start + BATCH);
        // The default name too: they may have been learned before the collection was renamed.
        for (const collection of new Set([MESSAGES, messages])) {
          await forget(kit.engine, { namespace, collection, ids: batch });
        }
      }
    }
  } catch (error) {
    kit.failOpen("NOT_FORGOTTEN", "The learned state of deleted messages could not be forgotten.", { error });
  }
}

/** The stored forms of messages that are about to be changed. Rejects only when failures reach the caller. */
export async function storedMessages(
  memory: Memory,
  { kit, enabled }: MemoryParts,
  changes: readonly { readonly id: string; readonly content?: unknown }[],
): Promise<readonly MastraDBMessage[]> {
  const ids = changes.flatMap(({ id, content }) => (content === undefined ? [] : [id]));
  if (!enabled || ids.length === 0) return [];
  try {
    const store = await memory.storage.getStore("memory");
    return (await store?.listMessagesById({ messageIds: ids }))?.messages ?? [];
  } catch (error) {
    kit.failOpen("NOT_REVISED", "Messages to change could not be listed.", { error });
    return [];
  }
}

/** Notes which messages have another text than before. Rejects only when failures reach the caller. */
export async function reviseMessages(
  parts: MemoryParts,
  before: readonly MastraDBMessage[],
  after: readonly MastraDBMessage[],
): Promise<void> {
  const { kit, messages: collection } = parts;
  const later = new Map(after.map((message) => [message.id, message]));
  const changed = before.filter((message) => {
    const now = later.get(message.id);
    // An edit may give the parts alone: Mastra shows and embeds those, and keeps the earlier text beside them.
    return now && (textIn(now) !== textIn(message) || textOfParts(now.content) !== textOfParts(message.content));
  });
  if (changed.length === 0) return;
  try {
    for (const [namespace, ids] of await byNamespace(parts, {}, CHANGED, async () => changed)) {
      await revise(kit.engine, { namespace, collection, ids });
    }
  } catch (error) {
    kit.failOpen("NOT_REVISED", "The evidence about changed messages could not be discounted.", { error });
  }
}

/**
 * Copies the evidence of the originals to the messages of a cloned thread, in the namespaces of both. Rejects only when
 * failures reach the caller.
 */
export async function inheritMessages(
  parts: MemoryParts,
  originals: { readonly threadId: string; readonly resourceId: string | undefined },
  clone: { readonly id: string; readonly resourceId?: string | undefined },
  copies: Readonly<Record<string, string>>,
): Promise<void> {
  const { kit, messages: collection, enabled } = parts;
  if (!enabled) return;
  try {
    const threads = [
      { ...originals, id: originals.threadId },
      { ...clone, threadId: clone.id },
    ];
    const found = await byNamespace(parts, {}, CHANGED, async () => threads);
    const memories = Object.entries(copies).map(([one, other]) => ({ from: storable(one), to: storable(other) }));
    for (const [namespace, shared] of found) {
      if (shared.length < threads.length) continue;
      for (let start = 0; start < memories.length; start += BATCH) {
        const batch = memories.slice(start, start + BATCH);
        await copyLearned(kit.engine, { namespace, collection, memories: batch });
      }
    }
  } catch (error) {
    kit.failOpen("NOT_REVISED", "What is known of a thread's messages could not be copied to its clone.", { error });
  }
}

/**
 * Deletes the vectors of the copies of messages that are not remembered. Rejects only when failures reach the caller: not every vector
 * store can delete by a filter.
 *
 * @param copies The copy of each message, by id.
 */
export async function withholdCopies(
  { kit, shared }: MemoryParts,
  copies: Readonly<Record<string, string>>,
  unembed: (indexName: string, messageIds: readonly string[]) => Promise<void>,
): Promise<void> {
  try {
    for (const [index, ids] of shared.turns.withholdCopies(copies)) await unembed(index, ids);
  } catch (error) {
    const message = "The vectors of copied messages that are not remembered could not be deleted.";
    kit.failOpen("NOT_REVISED", message, { error });
  }
}

async function byNamespace(
  parts: MemoryParts,
  scope: ForgetScope,
  { code, unlisted, unresolved }: Obstacles,
  list: () => Promise<readonly MessageShape[]>,
): Promise<MessageIdsByNamespace> {
  const sorted = new Map<string, string[]>();
  let isUnresolved = false;
  try {
    for (const message of await list()) {
      const { namespaces, isResolved } = resolveNamespaces(parts, scope, message);
      isUnresolved ||= !isResolved;
      for (const namespace of namespaces) {
        const ids = sorted.get(namespace) ?? [];
        sorted.set(namespace, ids);
        ids.push(storable(message.id));
      }
    }
  } catch (error) {
    parts.kit.failOpen(code, unlisted, { error });
    return new Map();
  }
  if (isUnresolved) parts.kit.log("warn", code, unresolved);
  return sorted;
}

/**
 * The namespaces that may have evidence about a message: the option's, and the one in which this process learned on its thread.
 * Unresolved where the option needs a request context, there is none, and this process has not seen the thread.
 */
function resolveNamespaces(
  { options, shared: { runs } }: MemoryParts,
  scope: ForgetScope,
  { threadId, resourceId }: MessageShape,
): { readonly namespaces: ReadonlySet<string>; readonly isResolved: boolean } {
  if (scope.namespace !== undefined) return { namespaces: new Set([scope.namespace]), isResolved: true };
  const seen = threadId === undefined ? undefined : runs.namespaceOf(threadAlias(threadId));
  const namespaces = new Set(seen === undefined ? [] : [seen]);
  let lacksRequest = false;
  const run = {
    threadId,
    resourceId,
    get requestContext(): RequestContext | undefined {
      lacksRequest = scope.requestContext === undefined;
      return scope.requestContext;
    },
  };
  try {
    namespaces.add(namespaceOf(options, run));
  } catch (error) {
    if (!lacksRequest) throw error;
  }
  return { namespaces, isResolved: !lacksRequest || seen !== undefined };
}
