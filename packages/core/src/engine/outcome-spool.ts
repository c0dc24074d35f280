import { QavrError } from "../errors/qavr-error.js";
import type { Spool, WaitingCommit } from "../store/spool.js";
import type { CommitReceipt, LedgerEntry } from "../store/store.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import type { EngineContext } from "./context.js";
import { asStoreError, isOutOfReach, isWorthKeeping } from "./store-failure.js";

/** Commits that are passed on at once: they share transactions. */
const PAGE = 100;

/** What became of an entry: in the ledger at `seq`, or safe in the spool, without a place yet. */
export type RecordReceipt = CommitReceipt | { readonly status: "spooled"; readonly seq: 0 };

export interface OutcomeSpool {
  /**
   * Commits to the store or, while that is out of reach, to the spool: what is acknowledged is durable in one of them.
   * @throws SPOOL_FULL when neither has room, and what the store refuses
   */
  commit(namespace: string, entries: readonly LedgerEntry[]): Promise<readonly RecordReceipt[]>;
  /** Passes on what waits, if the store can be reached: asks it also in a pause, since somebody wants to know. Never rejects. */
  drain(): Promise<void>;
  /** Passes on also what the store has refused: it may have been repaired since. Never rejects. */
  retry(): Promise<void>;
  /** Drops what waits for a namespace that is erased. @throws the spool's failure: what waits there would bring the namespace back */
  forget(namespace: string): Promise<void>;
  /** Passes on what waits for a namespace. @throws STORE_UNAVAILABLE when some of it still waits */
  settle(namespace: string): Promise<void>;
  close(): Promise<void>;
}

export interface OutcomeSpoolOptions extends Pick<EngineContext, "store" | "reduce" | "now" | "log" | "counters"> {
  readonly spool: Spool;
  readonly breaker: CircuitBreaker;
}

export function createOutcomeSpool(options: OutcomeSpoolOptions): OutcomeSpool {
  const { store, reduce, spool, breaker, now, log, counters } = options;
  /** Commits that are damaged, or that the store refuses: they stay, and are not tried again by this engine until {@link OutcomeSpool.retry}. */
  const refused = new Set<number>();
  let waiting: number | undefined;
  let appended = 0;
  let draining: Promise<void> | undefined;

  /** What the spool does, or undefined: a spool that fails must not keep outcomes from a store that works. */
  const asking = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      const { code, message } = asStoreError(error, spool.name);
      log("error", `The spool cannot be read: ${message}`, { code: "SPOOL_FAILED", reason: code });
      return undefined;
    }
  };

  /** Undefined when the spool does not say: then some may wait. */
  const recount = async (): Promise<void> => {
    const before = appended;
    const size = await asking(() => spool.size());
    // What was appended meanwhile may be in the answer or not.
    waiting = appended === before ? size : undefined;
    counters.spooled = waiting ?? counters.spooled;
  };

  /** Everything that waits, oldest first: an episode's exposures must come before its end. One run at a time. @throws when out of reach */
  const passOn = (): Promise<void> => {
    draining ??= (async () => {
      if (waiting === undefined) await recount();
      if (waiting !== undefined && waiting <= refused.size) return;
      try {
        await passOnAll(options, refused, asking);
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
  ): Promise<readonly RecordReceipt[]> => {
    try {
      await spool.append({ namespace, entries });
    } catch (error) {
      counters.rejected += 1;
      const failure = asStoreError(error, spool.name);
      // It may have been kept all the same.
      if (failure.code !== "SPOOL_FULL") waiting = undefined;
      throw failure;
    }
    appended += 1;
    // A count that is not known stays so: there may be more than this one.
    if (waiting !== undefined) waiting += 1;
    counters.spooled = waiting ?? counters.spooled + 1;
    const isDamaged = failure !== undefined && !isOutOfReach(failure);
    log("warn", `The ${isDamaged ? "ledger is damaged" : "store is out of reach"}: an outcome waits in the spool.`, {
      code: "OUTCOME_SPOOLED",
      namespace,
      waiting: counters.spooled,
      reason: failure?.code ?? "STORE_SUSPENDED",
    });
    return entries.map(() => ({ status: "spooled", seq: 0 }));
  };

  const drain = async (): Promise<void> => {
    // One that began while the store was away says nothing about now.
    await draining?.catch(() => undefined);
    await tryStore(passOn).catch(() => undefined);
  };

  const waitingFor = async (namespace: string): Promise<WaitingCommit[]> => {
    const found: WaitingCommit[] = [];
    for await (const page of pagesOf((after) => spool.read({ after, limit: PAGE }))) {
      found.push(...page.filter((commit) => commit.namespace === namespace));
    }
    return found;
  };

  return {
    async commit(namespace, entries) {
      if (!breaker.admits(now())) return keep(namespace, entries, undefined);
      try {
        return await tryStore(async () => {
          await passOn();
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

    async forget(namespace) {
      await draining?.catch(() => undefined);
      const ids = (await waitingFor(namespace)).map(({ id }) => id);
      if (ids.length === 0) return;
      await spool.remove(ids);
      for (const id of ids) refused.delete(id);
      await recount();
    },

    async settle(namespace) {
      if (waiting !== 0) await drain();
      // What is damaged never gets there, and brings nothing back.
      const left = waiting === 0 ? 0 : (await waitingFor(namespace)).filter(isWhole).length;
      if (left === 0) return;
      throw new QavrError(
        "STORE_UNAVAILABLE",
        `${left} commits of namespace ${namespace} wait in the spool and would bring back what is to be forgotten. Repeat this when the store has taken them.`,
        { details: { namespace, waiting: left } },
      );
    },

    close: () => spool.close(),
  };
}

/** Everything that waits, page by page, until there is no more or it cannot be read. */
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

async function passOnAll(
  { store, reduce, spool, log }: OutcomeSpoolOptions,
  refused: Set<number>,
  asking: <T>(work: () => Promise<T>) => Promise<T | undefined>,
): Promise<void> {
  let passed = 0;
  for await (const page of pagesOf((after) => asking(() => spool.read({ after, limit: PAGE })))) {
    const untried = page.filter(({ id }) => !refused.has(id));
    for (const { id, damage } of untried) {
      if (damage === undefined) continue;
      refused.add(id);
      log("error", `A commit in the spool is damaged and stays there: ${damage}`, {
        code: "SPOOL_FAILED",
        reason: "STORE_CORRUPT",
        commit: id,
      });
    }
    const byNamespace = Map.groupBy(untried.filter(isWhole), ({ namespace }) => namespace);
    const sent = (await Promise.all([...byNamespace.values()].map(inOrder))).flat();
    await asking(() => spool.remove(sent));
    passed += sent.length;
  }
  if (passed === 0) return;
  log("info", "What waited in the spool has reached the store.", { code: "SPOOL_DRAINED", commits: passed });

  /** The commits of one namespace, all at once if the store takes them so, else one by one. Returns the ids of those it has. */
  async function inOrder(commits: readonly WaitingCommit[]): Promise<number[]> {
    if (commits.length > 1 && (await send(commits))) return commits.map(({ id }) => id);
    const sent: number[] = [];
    for (const commit of commits) {
      if (await send([commit])) sent.push(commit.id);
      else refused.add(commit.id);
    }
    return sent;
  }

  /** False when the store refuses them. @throws when it is out of reach */
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
    log("error", "The store refuses an outcome that had waited in the spool.", {
      code: "SPOOL_REFUSED",
      namespace,
      reason,
      key,
    });
  }
}
