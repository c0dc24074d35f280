import type { Memory } from "@mastra/memory";
import { MESSAGES } from "./collections.js";
import { failOpen, type Internals } from "./internals.js";
import { scopeOf } from "./run-scope.js";
import { storable } from "./storable.js";

/** Ids per ledger entry. */
const BATCH = 500;

/** Messages that go away, by the namespace that they may have been learned in. */
export type Doomed = ReadonlyMap<string, readonly string[]>;

interface MessageShape {
  readonly id: string;
  readonly threadId?: string | undefined;
  readonly resourceId?: string | undefined;
}

/** The messages to delete with their namespaces, told while they are still there. Never rejects unless failures are thrown. */
export async function idsOf(
  memory: Memory,
  internals: Internals,
  input: Parameters<Memory["deleteMessages"]>[0],
): Promise<Doomed> {
  if (!internals.enabled || !Array.isArray(input)) return new Map();
  const ids = input.flatMap((item: unknown) => {
    const id = typeof item === "string" ? item : (item as { id?: unknown } | null)?.id;
    return typeof id === "string" ? [id] : [];
  });
  if (typeof internals.options.namespace !== "function")
    return byNamespace(
      internals,
      ids.map((id) => ({ id })),
    );
  return told(internals, async () => {
    const store = await memory.storage.getStore("memory");
    return (await store?.listMessagesById({ messageIds: ids }))?.messages ?? [];
  });
}

/** The messages of a thread with their namespace. Never rejects unless failures are thrown. */
export async function threadMessages(memory: Memory, internals: Internals, threadId: string): Promise<Doomed> {
  if (!internals.enabled) return new Map();
  return told(internals, async () => {
    const store = await memory.storage.getStore("memory");
    return (await store?.listMessages({ threadId, perPage: false }))?.messages ?? [];
  });
}

/** Forgets what was learned about messages that are gone. Never rejects unless failures are thrown. */
export async function forgetMessages(internals: Internals, doomed: Doomed): Promise<void> {
  try {
    for (const [namespace, ids] of doomed) {
      for (let start = 0; start < ids.length; start += BATCH) {
        const batch = ids.slice(start, start + BATCH);
        // Also where they were learned before the collection got another name.
        for (const collection of new Set([MESSAGES, internals.messages])) {
          await internals.engine.forget({ namespace, collection, ids: batch });
        }
      }
    }
  } catch (error) {
    failOpen(internals, "NOT_FORGOTTEN", "What was learned about deleted messages could not be forgotten.", { error });
  }
}

async function told(internals: Internals, list: () => Promise<readonly MessageShape[]>): Promise<Doomed> {
  try {
    return byNamespace(internals, await list());
  } catch (error) {
    failOpen(internals, "NOT_FORGOTTEN", "Messages to delete could not be listed.", { error });
    return new Map();
  }
}

function byNamespace({ options }: Internals, messages: readonly MessageShape[]): Doomed {
  const sorted = new Map<string, string[]>();
  for (const { id, threadId, resourceId } of messages) {
    const { namespace } = scopeOf(options, { threadId, resourceId, requestContext: undefined });
    sorted.set(namespace, [...(sorted.get(namespace) ?? []), storable(id)]);
  }
  return sorted;
}
