import { createEngine, type Engine, type OutcomeInput, type OutcomeReceipt, type Store } from "@qavr/core";
import { compact, forget } from "@qavr/core/maintenance";
import { expect } from "vitest";
import type { CaseContext, ConformanceCase, ConformanceTopic } from "../conformance-case.js";

const DAY = 86_400_000;
const OUTCOME: OutcomeInput = {
  reward: 0.75,
  tier: "verified",
  source: "checker",
  helpful: ["d0"],
  harmful: ["m2"],
  used: ["m1", "d2"],
  note: "as asked",
  idempotencyKey: "ticket",
};

/** An engine on a store, at a time that the case sets. */
interface Asking {
  store: Store;
  engine: Engine;
  now: number;
}

/** Change of the ledger between the first outcome and its repetition. */
interface Change extends Pick<ConformanceCase, "needs"> {
  readonly title: string;
  readonly by: (asking: Asking, context: CaseContext) => Promise<unknown>;
}

const forgetShown = ({ engine }: Asking): Promise<void> => forget(engine, { namespace: "default", ids: ["d0", "d1"] });
const compactAll = async ({ store, engine }: Asking): Promise<unknown> =>
  store.readCheckpoint && compact(engine, { namespace: "default", olderThan: 0 });

async function reopen(asking: Asking, { open }: CaseContext): Promise<void> {
  await asking.engine.close();
  asking.store = await open();
  asking.engine = engineOn(asking);
}

const changes: readonly Change[] = [
  { title: "at once", by: async () => {} },
  { title: "after its memories were forgotten", by: forgetShown },
  {
    title: "after the outcome window",
    by: async (asking) => {
      asking.now += 31 * DAY;
    },
  },
  { title: "after its entry was compacted", needs: "compact", by: compactAll },
  {
    title: "after its episode was compacted away, too",
    needs: "compact",
    async by(asking) {
      asking.now += 61 * DAY;
      await compact(asking.engine, { namespace: "default" });
    },
  },
  { title: "in a new process", needs: "durable", by: reopen },
  {
    title: "in a new process, with its memories forgotten and its entry compacted, after the window",
    needs: "durable",
    async by(asking, context) {
      await forgetShown(asking);
      asking.now += 31 * DAY;
      await compactAll(asking);
      await reopen(asking, context);
    },
  },
];

function engineOn(asking: Pick<Asking, "store" | "now">): Engine {
  return createEngine({ store: asking.store, clock: () => asking.now });
}

async function asked(store: Store): Promise<Asking & { readonly episode: string }> {
  const asking = { store, now: 1_767_225_600_000 } as Asking;
  asking.engine = engineOn(asking);
  const candidates = Array.from({ length: 4 }, (_, i) => ({ id: `d${i}`, similarity: 0.9 - i * 0.1 }));
  const { episode } = await asking.engine.rank({ candidates, topK: 3, aliases: ["run"] });
  return Object.assign(asking, { episode });
}

const duplicateOf = (first: OutcomeReceipt | undefined): unknown => ({ ...first, status: "duplicate" });

function cases({ title, needs, by }: Change): ConformanceCase[] {
  const registered = { ...(needs === undefined ? {} : { needs }) };
  return [
    {
      ...registered,
      title: `answers an end ${title} with the first receipt`,
      async run(context) {
        const asking = await asked(context.store);
        const { episode } = asking;
        const first = await asking.engine.end(episode, OUTCOME);
        expect(first).toMatchObject({ status: "committed", episode });
        await by(asking, context);
        const head = await asking.store.head("default");
        expect(await asking.engine.end(episode, OUTCOME)).toEqual(duplicateOf(first));
        expect(await asking.engine.report(episode, OUTCOME)).toEqual(duplicateOf(first));
        expect(await asking.store.head("default")).toBe(head);
        await asking.engine.close();
      },
    },
    {
      ...registered,
      title: `answers a report ${title} with the first receipt, by alias while the episode is known`,
      async run(context) {
        const asking = await asked(context.store);
        const { episode } = asking;
        const first = await asking.engine.report("run", OUTCOME);
        expect(first).toMatchObject({ status: "committed", episode });
        await asking.engine.end(episode);
        await by(asking, context);
        const head = await asking.store.head("default");
        expect(await asking.engine.report(episode, OUTCOME)).toEqual(duplicateOf(first));
        const { status, seq } = await asking.engine.report("run", OUTCOME);
        expect({ status, seq }).toEqual({ status: "duplicate", seq: first.seq });
        expect(await asking.store.head("default")).toBe(head);
        await asking.engine.close();
      },
    },
    {
      ...registered,
      title: `refuses another outcome under the key ${title}`,
      async run(context) {
        const asking = await asked(context.store);
        await asking.engine.end(asking.episode, OUTCOME);
        await by(asking, context);
        const candidates = [{ id: "d2", similarity: 0.9 }];
        const other = await asking.engine.rank({ candidates, topK: 1 });
        const conflict = { code: "IDEMPOTENCY_CONFLICT" };
        const plain = { reward: 0.75, idempotencyKey: "ticket" };
        await expect(asking.engine.report(other.episode, plain)).rejects.toMatchObject(conflict);
        await expect(asking.engine.end(other.episode, plain)).rejects.toMatchObject(conflict);
        await asking.engine.close();
      },
    },
  ];
}

export const askingAgain: ConformanceTopic = {
  topic: "asking again",
  cases: [
    ...changes.flatMap(cases),
    {
      title: "answers ends and reports in flight together with one place",
      async run({ store }) {
        const { engine, episode } = await asked(store);
        const calls = [engine.end(episode, OUTCOME), engine.end(episode, OUTCOME), engine.report("run", OUTCOME)];
        const receipts = await Promise.all(calls);
        const [first, ...others] = receipts;
        expect(first).toMatchObject({ status: "committed", episode });
        for (const other of others) expect(other).toEqual(duplicateOf(first));
        await engine.close();
      },
    },
    {
      title: "answers a report on an open episode whose memories were forgotten since",
      async run({ store }) {
        const asking = await asked(store);
        const { engine, episode } = asking;
        const first = await engine.report("run", OUTCOME);
        await forgetShown(asking);
        expect(await engine.report("run", OUTCOME)).toEqual(duplicateOf(first));
        expect(await engine.end(episode, OUTCOME)).toEqual(duplicateOf(first));
        // That end has ended it.
        await expect(engine.end(episode)).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
        await engine.close();
      },
    },
    {
      title: "credits the other memories of an outcome that names forgotten ones, and answers it again",
      async run({ store }) {
        const asking = await asked(store);
        const { engine, episode } = asking;
        await forgetShown(asking);
        const outcome: OutcomeInput = { reward: true, helpful: ["d0", "d2"], harmful: ["m2"], idempotencyKey: "late" };
        const first = await engine.end(episode, outcome);
        expect(first).toMatchObject({ status: "committed", episode });
        const { memories } = await engine.memories({ ids: ["d0", "d1", "d2"] });
        expect(memories.map(({ helpful, harmful, successes }) => [helpful, harmful, successes])).toEqual([
          [0, 0, 0],
          [0, 0, 0],
          [1, 0, 1],
        ]);
        expect(await engine.end(episode, outcome)).toEqual(duplicateOf(first));
        expect(await engine.report("run", outcome)).toEqual(duplicateOf(first));
        await engine.close();
      },
    },
    {
      title: "refuses the same outcome of another episode under a used key",
      async run({ store }) {
        const { engine, episode } = await asked(store);
        await engine.end(episode, OUTCOME);
        const candidates = Array.from({ length: 3 }, (_, i) => ({ id: `d${i}`, similarity: 0.9 - i * 0.1 }));
        const other = await engine.rank({ candidates, topK: 3 });
        await expect(engine.end(other.episode, OUTCOME)).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
        await engine.close();
      },
    },
  ],
};
