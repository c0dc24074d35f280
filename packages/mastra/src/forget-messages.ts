import type { RequestContext } from "@mastra/core/request-context";
import type { Memory } from "@mastra/memory";
import { failOpen, type Internals } from "./internals.js";
import { MESSAGES } from "./recall/collections.js";
import { threadAlias } from "./runs/run-lifecycle.js";
import { namespaceOf } from "./runs/run-scope.js";
import { storable } from "./runs/storable.js";

/** Ids per ledger entry. */
const BATCH = 500;

/** Messages that go away, by the namespace that they may have been learned in. */
export type Doomed = ReadonlyMap<string, readonly string[]>;

/** Where what was learned about messages is forgotten, for a `namespace` option that is a function of the request context. */
export interface ForgetScope {
  /** The namespace itself. */
  readonly namespace?: string | undefined;
  /** What the function is asked with. */
  readonly requestContext?: RequestContext | undefined;
}

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
  scope: ForgetScope,
): Promise<Doomed> {
  if (!internals.enabled || !Array.isArray(input)) return new Map();
  const ids = input.flatMap((item: unknown) => {
    const id = typeof item === "string" ? item : (item as { id?: unknown } | null)?.id;
    return typeof id === "string" ? [id] : [];
  });
  if (typeof internals.options.namespace !== "function" || scope.namespace !== undefined) {
    return told(internals, scope, async () => ids.map((id) => ({ id })));
  }
  return told(internals, scope, async () => {
    const store = await memory.storage.getStore("memory");
    return (await store?.listMessagesById({ messageIds: ids }))?.messages ?? [];
  });
}

/** The messages of a thread with their namespace. Never rejects unless failures are thrown. */
export async function threadMessages(
  memory: Memory,
  internals: Internals,
  threadId: string,
  scope: ForgetScope,
): Promise<Doomed> {
  if (!internals.enabled) return new Map();
  return told(internals, scope, async () => {
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

async function told(
  internals: Internals,
  scope: ForgetScope,
  list: () => Promise<readonly MessageShape[]>,
): Promise<Doomed> {
  try {
    return byNamespace(internals, scope, await list());
  } catch (error) {
    failOpen(internals, "NOT_FORGOTTEN", "Messages to delete could not be listed.", { error });
    return new Map();
  }
}

function byNamespace(internals: Internals, scope: ForgetScope, messages: readonly MessageShape[]): Doomed {
  const sorted = new Map<string, string[]>();
  let untold = 0;
  for (const message of messages) {
    const { namespaces, isTold } = namespacesOf(internals, scope, message);
    if (!isTold) untold += 1;
    for (const namespace of namespaces) {
      const ids = sorted.get(namespace) ?? [];
      sorted.set(namespace, ids);
      ids.push(storable(message.id));
    }
  }
  if (untold > 0) {
    internals.log(
      "warn",
      "NOT_FORGOTTEN",
      "The namespace of deleted messages depends on a request context, and none was given. Call deleteThread or deleteMessages with " +
        "{ namespace } or { requestContext }, or memory.engine.forget.",
    );
  }
  return sorted;
}

/**
 * Where a message may have been learned: where the option says, and where this process has learned on its thread. Not told where the
 * option asks for a request context, there is none, and this process has not seen the thread.
 */
function namespacesOf(
  internals: Internals,
  scope: ForgetScope,
  { threadId, resourceId }: MessageShape,
): { readonly namespaces: ReadonlySet<string>; readonly isTold: boolean } {
  const { options, runs } = internals;
  if (scope.namespace !== undefined) return { namespaces: new Set([scope.namespace]), isTold: true };
  const seen = threadId === undefined ? undefined : runs.namespaceOf(threadAlias(threadId));
  const namespaces = new Set(seen === undefined ? [] : [seen]);
  let lacksContext = false;
  const run = {
    threadId,
    resourceId,
    get requestContext(): RequestContext | undefined {
      lacksContext = scope.requestContext === undefined;
      return scope.requestContext;
    },
  };
  try {
    namespaces.add(namespaceOf(options, run));
  } catch (error) {
    if (!lacksContext) throw error;
  }
  return { namespaces, isTold: !lacksContext || seen !== undefined };
}
