import type { Store } from "@qavr/core";
import type { CommitReceipt } from "@qavr/core/store";

/** A store that acknowledges before it commits, as a write-behind cache would. */
export function acknowledgingEarly(inner: Store): Store {
  let seq = 0;
  return {
    ...inner,
    async commit(namespace, entries, reduce) {
      setTimeout(() => void inner.commit(namespace, entries, reduce).catch(() => undefined), 3);
      return entries.map((): CommitReceipt => ({ status: "committed", seq: ++seq }));
    },
  };
}

/** A store that takes whatever is sent again for something new. */
export function forgettingKeys(inner: Store): Store {
  let calls = 0;
  return {
    ...inner,
    commit: (namespace, entries, reduce) =>
      inner.commit(
        namespace,
        entries.map((entry) => ({ ...entry, key: `${entry.key}#${process.pid}-${calls++}` })),
        reduce,
      ),
  };
}

/** A store whose maintenance sees none of the entries that came since it looked last. */
export function losingTheTail(inner: Store): Store {
  return {
    ...inner,
    atHead: (namespace, given) =>
      inner.atHead(namespace, {
        ...given,
        *work(_, head) {
          return yield* given.work([], Math.min(head, given.after));
        },
      }),
  };
}

/** A store whose maintenance never comes so close to its writers that it may finish. */
export function neverCatchingUp(inner: Store): Store {
  return { ...inner, atHead: async () => false };
}

/** A store that keeps namespaces apart by their lower-case names. */
export function ignoringCase(store: Store): Store {
  const under = (namespace: string): string => namespace.toLowerCase();
  return {
    ...store,
    commit: (namespace, ...rest) => store.commit(under(namespace), ...rest),
    readStates: (namespace, ...rest) => store.readStates(under(namespace), ...rest),
    scanStates: (namespace, ...rest) => store.scanStates(under(namespace), ...rest),
    changesSince: (namespace, cursor) =>
      store.changesSince?.(under(namespace), cursor) ?? { cursor, written: undefined },
    findKey: (namespace, key) => store.findKey(under(namespace), key),
    head: (namespace) => store.head(under(namespace)),
  };
}
