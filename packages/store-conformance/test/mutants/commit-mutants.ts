import type { Reduction } from "@qavr/core/store";
import { writing } from "../../src/fixtures/writing.js";
import { address, type Mutant, mutant, verifying, withRevision, withWrites } from "./mutant.js";

/** Faults of writing: keys, order, reductions, atomicity. */
export const commitMutants: readonly Mutant[] = [
  mutant("forgets idempotency keys", "idempotency", (store) => {
    let calls = 0;
    return {
      commit: (namespace, entries, reduce) =>
        store.commit(
          namespace,
          entries.map((entry) => ({ ...entry, key: `${entry.key}#${calls++}` })),
          (entry) => reduce({ ...entry, key: entry.key.replace(/#\d+$/, "") }),
        ),
      readEntries: async (namespace, options) =>
        (await store.readEntries(namespace, options)).map((entry) => ({
          ...entry,
          key: entry.key.replace(/#\d+$/, ""),
        })),
    };
  }),

  mutant("compares keys but not payloads", "idempotency", (store) => ({
    commit: async (namespace, entries, reduce) =>
      (await store.commit(namespace, entries, reduce)).map(({ status, seq }) => ({
        status: status === "conflict" ? "duplicate" : status,
        seq,
      })),
  })),

  mutant("answers a duplicate with the head instead of the first place", "idempotency", (store) => ({
    async commit(namespace, entries, reduce) {
      const receipts = await store.commit(namespace, entries, reduce);
      const seq = await store.head(namespace);
      return receipts.map((receipt) => (receipt.status === "duplicate" ? { ...receipt, seq } : receipt));
    },
  })),

  mutant("gives two entries one place in the order", "commit", (store) => {
    const shifted = (seq: number): number => (seq > 2 ? seq - 1 : seq);
    return {
      commit: async (namespace, entries, reduce) =>
        (await store.commit(namespace, entries, (entry) => reduce({ ...entry, seq: shifted(entry.seq) }))).map(
          ({ status, seq }) => ({ status, seq: shifted(seq) }),
        ),
      readEntries: async (namespace, options) =>
        (await store.readEntries(namespace, options)).map((entry) => ({ ...entry, seq: shifted(entry.seq) })),
    };
  }),

  mutant("applies every reduction twice", "commit", (store) => ({
    commit: (namespace, entries, reduce) =>
      store.commit(namespace, entries, function* (entry): Reduction {
        const first = yield* reduce(entry);
        const written = new Map(first.map((write) => [address(write.scope, write.id), write]));
        const second = reduce(entry);
        let step = second.next();
        while (!step.done) {
          const asked = step.value;
          const stored = yield asked;
          step = second.next(
            asked.map(({ scope, id }, place) => {
              const write = written.get(address(scope, id));
              return write ? (write.value ?? undefined) : stored[place];
            }),
          );
        }
        return [...first, ...step.value];
      }),
  })),

  mutant("loses the last write of a reduction that writes several", "commit", (store) => ({
    commit: (namespace, entries, reduce) =>
      store.commit(
        namespace,
        entries,
        withWrites(reduce, (writes) => (writes.length > 1 ? writes.slice(0, -1) : writes)),
      ),
  })),

  mutant("ignores the removal of a state", "commit", (store) => ({
    commit: (namespace, entries, reduce) =>
      store.commit(
        namespace,
        entries,
        withWrites(reduce, (writes) => writes.filter(({ value }) => value !== null)),
      ),
  })),

  mutant("hides from an entry what earlier entries of its call wrote", "commit", (store) => {
    const states = new Map<string, Map<string, Uint8Array | null>>();
    return {
      async commit(namespace, entries, reduce) {
        const before = new Map(states.get(namespace));
        const after = new Map(before);
        const receipts = await store.commit(namespace, entries, function* (entry): Reduction {
          const reduction = reduce(entry);
          let step = reduction.next();
          while (!step.done) {
            step = reduction.next(step.value.map(({ scope, id }) => before.get(address(scope, id)) ?? undefined));
          }
          for (const { scope, id, value } of step.value) after.set(address(scope, id), value);
          return step.value;
        });
        states.set(namespace, after);
        return receipts;
      },
    };
  }),

  mutant("keeps the entries before the one whose reduction throws", "reductions", (store) => ({
    async commit(namespace, entries, reduce) {
      const receipts = [];
      for (const entry of entries) receipts.push(...(await store.commit(namespace, [entry], reduce)));
      return receipts;
    },
  })),

  mutant("commits an entry without its writes when its reduction throws", "reductions", (store) => ({
    commit: (namespace, entries, reduce) =>
      store.commit(namespace, entries, (entry) => {
        const reduction = reduce(entry);
        return (function* (): Reduction {
          try {
            return yield* reduction;
          } catch {
            return [];
          }
        })();
      }),
  })),

  mutant("hides the error of a reduction behind one of its own", "reductions", (store) => ({
    commit: (namespace, entries, reduce) =>
      store.commit(namespace, entries, reduce).catch((cause) => {
        throw new Error("The transaction failed.", { cause });
      }),
  })),

  mutant("answers only the first round of a reduction's reads", "reductions", (store) => ({
    commit: (namespace, entries, reduce) =>
      store.commit(namespace, entries, function* (entry): Reduction {
        const reduction = reduce(entry);
        let step = reduction.next();
        for (let round = 0; !step.done; round++) {
          const answer = yield step.value;
          step = reduction.next(round === 0 ? answer : answer.map(() => undefined));
        }
        return step.value;
      }),
  })),

  mutant("writes the first value of a state that work at the head returns twice", "work at the head", (store) => ({
    atHead: (namespace, given) =>
      store.atHead(
        namespace,
        withRevision(given, (revision) => ({ ...revision, states: revision.states.toReversed() })),
      ),
  })),

  mutant("forgets the keys of entries that it compacts away", "checkpoints", (store) => {
    const dropped = new Set<string>();
    let calls = 0;
    return {
      async atHead(namespace, given) {
        const entries = await store.readEntries(namespace, { limit: 10_000 });
        const noting = withRevision(given, (revision) => {
          const through = given.checkpoint?.seq ?? 0;
          for (const { key, seq } of entries) if (seq <= through) dropped.add(address(namespace, key));
          return revision;
        });
        return store.atHead(namespace, noting);
      },
      commit: (namespace, entries, reduce) =>
        store.commit(
          namespace,
          entries.map((entry) =>
            dropped.has(address(namespace, entry.key)) ? { ...entry, key: `${entry.key}#${calls++}` } : entry,
          ),
          reduce,
        ),
    };
  }),

  mutant("keeps the states of a checkpoint that a later one removes", "checkpoints", (store) => ({
    atHead: (namespace, { checkpoint, ...given }) =>
      store.atHead(namespace, {
        ...given,
        checkpoint: checkpoint && { ...checkpoint, states: checkpoint.states.filter(({ value }) => value) },
      }),
  })),

  mutant("writes the states of a revision whose checkpoint is out of date", "checkpoints", (store) => ({
    async atHead(namespace, given) {
      const base = (await store.readCheckpoint?.(namespace))?.seq ?? 0;
      const isLate = given.checkpoint && given.checkpoint.seq < base;
      return store.atHead(namespace, isLate ? { ...given, checkpoint: undefined } : given);
    },
  })),

  mutant("begins to count again after a compaction", "checkpoints", (store) => ({
    async head(namespace) {
      return (await store.readEntries(namespace, { limit: 10_000 })).length;
    },
  })),

  mutant("leaves the times of entries out of its digests", "verify", (store) =>
    verifying(store, { columns: (entry) => ({ ...entry, at: 0 }) }),
  ),

  mutant("gives entries the same digests in every namespace", "verify", (store) =>
    verifying(store, { first: () => new Uint8Array(16) }),
  ),

  mutant("begins its digests again after a compaction", "verify", (store) => {
    const { verify } = verifying(store);
    return { verify };
  }),

  mutant("erases the state of a namespace but keeps its ledger", "eraseNamespace", (store) => ({
    async eraseNamespace(namespace) {
      const entries = await store.readEntries(namespace, { limit: 10_000 });
      await store.eraseNamespace(namespace);
      await store.commit(namespace, entries, writing());
    },
  })),

  mutant("accepts a batch beyond the limit", "limits", (store) => ({
    async commit(namespace, entries, reduce) {
      const first = await store.commit(namespace, entries.slice(0, 10_000), reduce);
      return [...first, ...(await store.commit(namespace, entries.slice(10_000), reduce))];
    },
  })),

  mutant("goes on working after it was closed", "close", () => ({ async close() {} })),
];
