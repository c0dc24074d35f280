import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Outbox, WaitingCommit } from "../store/outbox.js";
import type { LedgerEntry, OutboxHost, OutboxQueue, QueueReceipt, Store } from "../store/store.js";
import { CircuitBreaker } from "./circuit-breaker.js";
import { asStoreError, isOutOfReach, isWorthKeeping } from "./store-failure.js";
import { withMembers } from "./with-members.js";

/** Commits that are sent at once: they share transactions. */
const PAGE = 100;

/**
 * A store whose outcomes wait in an outbox while it is out of reach. The engine sends them with the next write after it is back.
 * Use it when the store is another machine's. Closing the store closes the outbox. A report on a run that has ended is refused while its
 * episode cannot be read from the store.
 *
 *     createEngine({ store: withOutbox(postgresStore(url), sqliteOutbox("outbox.db")) })
 *
 * @throws INVALID_ARGUMENT for a value that is no store or no outbox
 */
export function withOutbox(store: Store, outbox: Outbox): Store {
  if (typeof store?.commit !== "function") {
    throw illegalOption("store", "withOutbox: store must be a Store, such as postgresStore(url)", store);
  }
  if (typeof outbox?.append !== "function") {
    throw illegalOption("outbox", "withOutbox: outbox must be an Outbox, such as sqliteOutbox(path)", outbox);
  }
  let isClosed = false;
  return withMembers(store, {
    outbox: (host: OutboxHost) => createQueue(outbox, host, () => isClosed),
    async close() {
      isClosed = true;
      try {
        await store.close();
      } finally {
        await outbox.close();
      }
    },
  });
}

function createQueue(given: Outbox, host: OutboxHost, isClosed: () => boolean): OutboxQueue {
  const { store, reduce, now, log } = host;
  const outbox = timed(given, host);
  const breaker = new CircuitBreaker();
  /** Commits that are damaged or that the store refuses. They stay, and wait for {@link OutboxQueue.retry}. */
  const refused = new Set<number>();
  let waiting: number | undefined;
  let queued = 0;
  let rejected = 0;
  let appended = 0;
  let draining: Promise<void> | undefined;

  /** Returns undefined when the outbox fails: that must not keep outcomes from a store that works. */
  const asking = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      // A second close() of the engine, or a flush() after it.
      if (isClosed()) return undefined;
      const { code, message } = asStoreError(error, outbox.name);
      log("error", `The outbox cannot be read: ${message}`, { code: "OUTBOX_FAILED", reason: code });
      return undefined;
    }
  };

  /** Counts waiting outcomes. An unknown count means that some may wait. */
  const recount = async (): Promise<void> => {
    const before = appended;
    const size = await asking(() => outbox.size());
    // A commit that was appended meanwhile may be in the answer or not.
    waiting = appended === before ? size : undefined;
    queued = waiting ?? queued;
  };

  /** Sends everything that waits, oldest first: an episode's exposures must come before its end. One run at a time. @throws when out of reach */
  const sendWaiting = (): Promise<void> => {
    draining ??= (async () => {
      if (waiting === undefined) await recount();
      if (waiting !== undefined && waiting <= refused.size) return;
      try {
        await sendAll({ store, reduce, outbox, log }, refused, asking);
      } finally {
        await recount();
      }
    })().finally(() => {
      draining = undefined;
    });
    return draining;
  };

  /** @throws the store's failure when it is out of reach; the breaker knows then */
  const tryStore = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      breaker.succeeded();
      return result;
    } catch (error) {
      const failure = asStoreError(error, store.name);
      if (isOutOfReach(failure)) breaker.failed(now());
      else breaker.succeeded();
      throw failure;
    }
  };

  const keep = async (
    namespace: string,
    entries: readonly LedgerEntry[],
    failure: QavrError | undefined,
  ): Promise<readonly QueueReceipt[]> => {
    try {
      await outbox.append({ namespace, entries });
    } catch (error) {
      rejected += 1;
      const failure = asStoreError(error, outbox.name);
      // It may have been kept all the same.
      if (failure.code !== "OUTBOX_FULL") waiting = undefined;
      throw failure;
    }
    appended += 1;
    // A count that is not known stays so: there may be more than this one.
    if (waiting !== undefined) waiting += 1;
    queued = waiting ?? queued + 1;
    const isDamaged = failure !== undefined && !isOutOfReach(failure);
    log("warn", `The ${isDamaged ? "ledger is damaged" : "store is out of reach"}: an outcome waits in the outbox.`, {
      code: "OUTCOME_QUEUED",
      namespace,
      waiting: queued,
      reason: failure?.code ?? "STORE_CIRCUIT_OPEN",
    });
    return entries.map(() => ({ status: "queued", seq: 0 }));
  };

  const drain = async (): Promise<void> => {
    // A run that began while the store was away says nothing about now.
    await draining?.catch(() => undefined);
    // Another process may have put something into the same outbox.
    waiting = undefined;
    await tryStore(sendWaiting).catch(() => undefined);
  };

  const waitingFor = async (namespace: string): Promise<WaitingCommit[]> => {
    const found: WaitingCommit[] = [];
    for await (const page of pagesOf((after) => outbox.read({ after, limit: PAGE }))) {
      found.push(...page.filter((commit) => commit.namespace === namespace));
    }
    return found;
  };

  return {
    async commit(namespace, entries) {
      if (!breaker.admits(now())) return keep(namespace, entries, undefined);
      try {
        return await tryStore(async () => {
          await sendWaiting();
          return store.commit(namespace, entries, reduce);
        });
      } catch (error) {
        if (QavrError.isInstance(error) && isWorthKeeping(error)) return keep(namespace, entries, error);
        throw error;
      }
    },

    drain,

    async retry() {
      await draining?.catch(() => undefined);
      refused.clear();
      await drain();
    },

    async find(namespace, key) {
      if (waiting === 0) return undefined;
      const entries = (await waitingFor(namespace)).flatMap((commit) => commit.entries);
      return entries.find((entry) => entry.key === key);
    },

    async discard(namespace) {
      await draining?.catch(() => undefined);
      const ids = (await waitingFor(namespace)).map(({ id }) => id);
      await outbox.remove(ids);
      for (const id of ids) refused.delete(id);
      await recount();
    },

    async settle(namespace) {
      await drain();
      // A damaged commit never reaches the store, and brings nothing back.
      const left = waiting === 0 ? 0 : (await waitingFor(namespace)).filter(isWhole).length;
      if (left === 0) return;
      throw new QavrError(
        "STORE_UNAVAILABLE",
        `${left} commits of namespace ${namespace} wait in the outbox and would bring back what is to be forgotten. Repeat this when the store has taken them.`,
        { details: { namespace, waiting: left } },
      );
    },

    health: () => ({ writeCircuitOpen: breaker.isOpen, queued, rejected }),
  };
}

/** Yields the waiting commits page by page, until there are no more or the outbox cannot be read. */
async function* pagesOf(
  read: (after: number) => Promise<readonly WaitingCommit[] | undefined>,
): AsyncGenerator<readonly WaitingCommit[]> {
  for (let after = 0; ; ) {
    const page = await read(after);
    const last = page?.at(-1);
    if (!page || !last) return;
    after = last.id;
    yield page;
  }
}

function isWhole({ damage }: WaitingCommit): boolean {
  return damage === undefined;
}

async function sendAll(
  { store, reduce, outbox, log }: Pick<OutboxHost, "store" | "reduce" | "log"> & { readonly outbox: Outbox },
  refused: Set<number>,
  asking: <T>(work: () => Promise<T>) => Promise<T | undefined>,
): Promise<void> {
  let passed = 0;
  for await (const page of pagesOf((after) => asking(() => outbox.read({ after, limit: PAGE })))) {
    const untried = page.filter(({ id }) => !refused.has(id));
    for (const { id, damage } of untried) {
      if (damage === undefined) continue;
      refused.add(id);
      log("error", `A commit in the outbox is damaged and stays there: ${damage}`, {
        code: "OUTBOX_FAILED",
        reason: "STORE_CORRUPT",
        commit: id,
      });
    }
    const byNamespace = Map.groupBy(untried.filter(isWhole), ({ namespace }) => namespace);
    const sent = (await Promise.all([...byNamespace.values()].map(inOrder))).flat();
    await asking(() => outbox.remove(sent));
    passed += sent.length;
  }
  if (passed === 0) return;
  log("info", "The commits that waited in the outbox have reached the store.", {
    code: "OUTBOX_DRAINED",
    commits: passed,
  });

  /** Sends the commits of one namespace, all at once if the store takes them so, else one by one. Returns the ids of those it has. */
  async function inOrder(commits: readonly WaitingCommit[]): Promise<number[]> {
    if (commits.length > 1 && (await send(commits))) return commits.map(({ id }) => id);
    const sent: number[] = [];
    for (const commit of commits) {
      if (await send([commit])) sent.push(commit.id);
      else refused.add(commit.id);
    }
    return sent;
  }

  /** Returns false when the store refuses them. @throws when it is out of reach */
  async function send(commits: readonly WaitingCommit[]): Promise<boolean> {
    const { namespace } = commits[0] as WaitingCommit;
    const entries = commits.flatMap((commit) => commit.entries);
    try {
      const receipts = await store.commit(namespace, entries, reduce);
      receipts.forEach(({ status }, i) => {
        if (status === "conflict") complain(namespace, "IDEMPOTENCY_CONFLICT", entries[i] as LedgerEntry);
      });
      return true;
    } catch (error) {
      const failure = asStoreError(error, store.name);
      if (isOutOfReach(failure)) throw failure;
      if (commits.length === 1) complain(namespace, failure.code, entries[0] as LedgerEntry);
      return false;
    }
  }

  function complain(namespace: string, reason: string, { key }: LedgerEntry): void {
    log("error", "The store refuses an outcome that had waited in the outbox.", {
      code: "OUTBOX_REFUSED",
      namespace,
      reason,
      key,
    });
  }
}

/** An outbox whose calls answer or fail within a timeout. A commit that is kept twice counts once. */
function timed(outbox: Outbox, { within }: OutboxHost): Outbox {
  const { name } = outbox;
  return {
    name,
    append: (...given) => within(name, () => outbox.append(...given)),
    read: (...given) => within(name, () => outbox.read(...given)),
    remove: (...given) => within(name, () => outbox.remove(...given)),
    size: () => within(name, () => outbox.size()),
    close: () => outbox.close(),
  };
}
