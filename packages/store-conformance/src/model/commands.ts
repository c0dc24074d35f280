import type { LedgerEntry, Reduce, StateRef, StateWrite } from "@qavr/core/store";
import fc from "fast-check";
import { expect } from "vitest";
import type { StoreAbilities } from "../conformance-case.js";
import { entry, type Script, scriptedReduction } from "../fixtures/scripted-reduction.js";
import { writeStates } from "../fixtures/write-states.js";
import { type Candidate, expectEqual, MODEL_IDS, MODEL_NAMESPACES, MODEL_SCOPES, type Model } from "./model-state.js";

/** One step of a random sequence: done to the reference and to the candidate, which must answer alike and be alike after. */
export type ModelCommand = fc.AsyncCommand<Model, Candidate>;

const show = (value: unknown): string => fc.stringify(value);

const namespaces = fc.constantFrom(...MODEL_NAMESPACES);
const handle = fc.nat({ max: 1 });
const refs: fc.Arbitrary<StateRef> = fc.record({
  scope: fc.constantFrom(...MODEL_SCOPES),
  id: fc.constantFrom(...MODEL_IDS),
});
const scripts: fc.Arbitrary<Script> = fc.record(
  { link: fc.array(refs, { maxLength: 4 }), remove: fc.array(refs, { maxLength: 2 }), follow: refs },
  { requiredKeys: ["link"] },
);
const values = fc.uint8Array({ minLength: 4, maxLength: 40 });
const writes: fc.Arbitrary<StateWrite[]> = fc.array(
  fc.tuple(refs, fc.option(values)).map(([ref, value]) => ({ ...ref, value })),
  { maxLength: 6 },
);
/** Events of one sequence: few, each with its key, so that events often repeat. */
export const scriptPools: fc.Arbitrary<readonly Script[]> = fc.array(scripts, { minLength: 10, maxLength: 10 });

/** Events of a pool; one in eight has its key but another payload. */
const eventsOf = (pool: readonly Script[]): fc.Arbitrary<LedgerEntry[]> =>
  fc.array(
    fc.tuple(fc.nat({ max: pool.length - 1 }), fc.nat({ max: 7 })).map(([place, variant]) => {
      const note = variant === 0 ? { note: "another payload" } : {};
      return { ...entry(`k${place}`, { ...pool[place], ...note }), at: place + 0.5 };
    }),
    { maxLength: 5 },
  );

/** The scripted reduction, except that it throws at one entry, however often it is begun. */
const throwingAt = (key: string | undefined): Reduce =>
  function* (sequenced) {
    const result = yield* scriptedReduction(sequenced);
    if (sequenced.key === key) throw new Error("The reduction failed on purpose.");
    return result;
  };

/** A command from one act that answers alike on every store; `touched` are compared whole afterwards. */
function command(
  title: string,
  touched: readonly string[],
  act: (model: Model, candidate: Candidate) => Promise<void>,
): ModelCommand {
  return {
    check: () => true,
    async run(model, candidate) {
      await act(model, candidate);
      await expectEqual(model.reference, candidate, touched);
    },
    toString: () => title,
  };
}

type Events = fc.Arbitrary<LedgerEntry[]>;

const pick = (candidate: Candidate, place: number): Candidate["handles"][number] =>
  candidate.handles[place % candidate.handles.length] as Candidate["handles"][number];

const commits = (events: Events) =>
  fc.tuple(namespaces, handle, events).map(([namespace, place, given]) =>
    command(
      `commit(${show(namespace)}, handle ${place}, ${show(given.map(describeEntry))})`,
      [namespace],
      async ({ reference }, candidate) => {
        const expected = await reference.commit(namespace, given, scriptedReduction);
        const handle = pick(candidate, place);
        expect(await handle.commit(namespace, given, scriptedReduction)).toEqual(expected);
        for (const { key, payload } of given) {
          const taken = await Promise.all([handle, reference].map((store) => store.findKey(namespace, key)));
          const [found, sought] = taken.map((known) => [known?.seq, known?.hasPayload(payload)]);
          expect(found).toEqual(sought);
        }
      },
    ),
  );

/** Calls of one moment, each in its own namespace: their order among each other is the store's own affair. */
const simultaneousCommits = (events: Events) =>
  fc.tuple(fc.uniqueArray(namespaces, { minLength: 2 }), handle, events).map(([names, place, given]) =>
    command(
      `commit at once(${show(names)}, handle ${place}, ${show(given.map(describeEntry))})`,
      names,
      async ({ reference }, candidate) => {
        const expected = await Promise.all(names.map((name) => reference.commit(name, given, scriptedReduction)));
        const calls = names.map((name, i) => pick(candidate, place + i).commit(name, given, scriptedReduction));
        expect(await Promise.all(calls)).toEqual(expected);
      },
    ),
  );

const throwingCommits = (events: Events) =>
  fc.tuple(namespaces, handle, events, fc.nat({ max: 4 })).map(([namespace, place, given, bad]) =>
    command(
      `commit that throws at entry ${bad}(${show(namespace)}, handle ${place}, ${show(given.map(describeEntry))})`,
      [namespace],
      async ({ reference }, candidate) => {
        const [expected, actual] = await Promise.allSettled([
          reference.commit(namespace, given, throwingAt(given[bad]?.key)),
          pick(candidate, place).commit(namespace, given, throwingAt(given[bad]?.key)),
        ]);
        expect(actual).toEqual(expected);
      },
    ),
  );

const revisions = fc.tuple(namespaces, handle, writes).map(([namespace, place, states]) =>
  command(
    `write at the head(${show(namespace)}, handle ${place}, ${show(states)})`,
    [namespace],
    async ({ reference }, candidate) => {
      for (const store of [reference, pick(candidate, place)]) await writeStates(store, namespace, states);
    },
  ),
);

/** Up to any place of the ledger, also one before the last checkpoint. */
const compactions = fc
  .tuple(namespaces, handle, writes, writes, fc.integer({ min: 1, max: 8 }))
  .map(([namespace, place, kept, states, through]) =>
    command(
      `compact(${show(namespace)}, handle ${place}, through ${through}, ${show([kept, states])})`,
      [namespace],
      async ({ reference }, candidate) => {
        const head = await reference.head(namespace);
        if (head === 0) return;
        const checkpoint = { seq: Math.min(through, head), states: kept };
        for (const store of [reference, pick(candidate, place)]) {
          await writeStates(store, namespace, states, checkpoint);
        }
        const checkpoints = [reference, ...candidate.handles].map(async (store) => {
          const found = await store.readCheckpoint?.(namespace);
          return found && { seq: found.seq, states: new Set(found.states.map(show)) };
        });
        const [first, ...others] = await Promise.all(checkpoints);
        for (const other of others) expect(other).toEqual(first);
      },
    ),
  );

const erasures = fc.tuple(namespaces, handle).map(([namespace, place]) =>
  command(`eraseNamespace(${show(namespace)}, handle ${place})`, MODEL_NAMESPACES, async ({ reference }, candidate) => {
    await reference.eraseNamespace(namespace);
    await pick(candidate, place).eraseNamespace(namespace);
  }),
);

const pages = fc
  .tuple(namespaces, handle, fc.nat({ max: 12 }), fc.integer({ min: 1, max: 6 }))
  .map(([namespace, place, after, limit]) =>
    command(
      `readEntries(${show(namespace)}, handle ${place}, after ${after}, limit ${limit})`,
      [],
      async ({ reference }, candidate) => {
        const expected = await reference.readEntries(namespace, { after, limit });
        expect(await pick(candidate, place).readEntries(namespace, { after, limit })).toEqual(expected);
      },
    ),
  );

const reopenings = fc.constant(
  command("close every handle and open again", MODEL_NAMESPACES, async (_model, candidate) => {
    const count = candidate.handles.length;
    for (const open of candidate.handles) await open.close();
    candidate.handles = [];
    while (candidate.handles.length < count) candidate.handles.push(await candidate.open());
  }),
);

/** The commands that a store with these abilities can be asked to do, over the events of one pool. */
export function commandArbitraries(
  { durable, compact }: Pick<StoreAbilities, "durable" | "compact">,
  pool: readonly Script[],
): fc.Arbitrary<ModelCommand>[] {
  const events = eventsOf(pool);
  const frequent = [commits(events), commits(events), commits(events)];
  const rare = [simultaneousCommits(events), throwingCommits(events), revisions, erasures, pages];
  return [...frequent, ...rare, ...(compact ? [compactions] : []), ...(durable ? [reopenings] : [])];
}

function describeEntry({ key, payload }: LedgerEntry): string {
  return `${key} ${new TextDecoder().decode(payload)}`;
}
