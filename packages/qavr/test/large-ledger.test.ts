import { createEngine, memoryStore, type Store } from "@qavr/core";
import { expect, it } from "vitest";
import { oneRun } from "../../core/test/support/one-run.js";
import { type Api, createApi } from "../src/dashboard/api.js";
import { fillLarge } from "./support/large-ledger.js";

/** Questions of the dashboard's pages, about a memory in the middle and the first run. */
const QUESTIONS = [
  "status",
  "memories",
  "memories?order=best",
  "memories?order=shown",
  "memory?ref=memory-003001",
  "runs",
  "runs?before=501",
  "run?ref=run-1",
  "doctor",
  "storage",
];

function ask(api: Api, question: string): Promise<unknown> {
  const [name = "", params] = question.split("?");
  return api.answer(name, new URLSearchParams(params));
}

/** A store that counts the rows of its answers. */
function counted(store: Store): { readonly store: Store; take(): { states: number; entries: number } } {
  let read = { states: 0, entries: 0 };
  const rows = async <Row>(kind: keyof typeof read, answer: Promise<readonly Row[]>): Promise<readonly Row[]> => {
    const found = await answer;
    read[kind] += found.length;
    return found;
  };
  return {
    store: {
      ...store,
      readStates: (...given) => rows("states", store.readStates(...given)),
      scanStates: (...given) => rows("states", store.scanStates(...given)),
      readEntries: (...given) => rows("entries", store.readEntries(...given)),
    },
    take() {
      const taken = read;
      read = { states: 0, entries: 0 };
      return taken;
    },
  };
}

it("counts the outcomes of a long ledger that came much later than its runs", async () => {
  const store = memoryStore();
  const engine = createEngine({ store });
  const runs = await Promise.all(
    Array.from({ length: 3_500 }, async () => {
      const episode = await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 });
      return episode;
    }),
  );
  await Promise.all(runs.map((run) => engine.report(run, { reward: true, tier: "user" })));
  expect(await ask(createApi(store, "memory"), "status")).toMatchObject({
    curve: { sampled: true },
    runs: { recorded: 3_500, coverage: 1 },
  });
});

it("counts the outcomes of a long ledger that have taught nothing", async () => {
  const store = memoryStore();
  const engine = createEngine({ store });
  await Promise.all(
    Array.from({ length: 3_500 }, async () => {
      await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 }, { reward: true, tier: "completed" });
    }),
  );
  expect(await ask(createApi(store, "memory"), "status")).toMatchObject({
    curve: { sampled: true },
    runs: { recorded: 3_500, taught: 0, coverage: expect.closeTo(1, 1) },
  });
});

it("counts no more outcomes of a long ledger than runs, where suspended runs have some", async () => {
  const store = memoryStore();
  const engine = createEngine({ store });
  await Promise.all(
    Array.from({ length: 2_100 }, async (_, run) => {
      const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
      await engine.report(episode, { reward: true });
      if (run % 2 === 0) await engine.suspend(episode, { alias: `thread ${run}` });
      else await engine.end(episode);
    }),
  );
  expect(await ask(createApi(store, "memory"), "status")).toMatchObject({ runs: { suspended: 1_050, coverage: 1 } });
});

const MEMORIES = 8_000;
/** More than 10,000 entries: shorter ledgers are compared with their digests. */
const RUNS = 5_100;
/** Rows that a page reads at most, whatever the length of the ledger. */
const MOST_STATES = 6_000;
const MOST_ENTRIES = 7_000;

it(`reads a part of ${MEMORIES} memories for each page, and pages through all of them in order`, async () => {
  const inner = memoryStore();
  await fillLarge(inner, { memories: MEMORIES, runs: RUNS });
  const { store, take } = counted(inner);
  for (const question of QUESTIONS) {
    // A page that is opened first has nothing to build on.
    const api = createApi(store, "memory");
    take();
    await ask(api, question);
    const { states, entries } = take();
    expect(states, question).toBeLessThan(MOST_STATES);
    expect(entries, question).toBeLessThan(MOST_ENTRIES);
  }

  const api = createApi(store, "memory");
  const utilities: number[] = [];
  let next: string | undefined;
  do {
    const page = (await ask(api, `memories${next === undefined ? "" : `?after=${encodeURIComponent(next)}`}`)) as {
      readonly rows: readonly { readonly utility: number }[];
      readonly of: number;
      readonly next?: string;
    };
    utilities.push(...page.rows.map(({ utility }) => utility));
    next = utilities.length < 1_000 ? page.next : undefined;
  } while (next !== undefined);
  expect(utilities).toHaveLength(1_000);
  expect(utilities).toEqual(utilities.toSorted((a, b) => a - b));
});
