import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Learner } from "@qavr/core";
import { score10 } from "@qavr/learners";
import { type LearningOptions, QavrMemory } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { scriptedAgent, USER } from "./support/bench.js";
import { libsql, temporaryFolder } from "./support/stores.js";

const PROGRAM = fileURLToPath(new URL("../../qavr/dist/main.mjs", import.meta.url));
const RUNS = 60;
const TEXTS = Array.from({ length: 14 }, (_, i) => `lesson ${i} says ${"abcdefghijklmn".slice(i)}`);

/** How an agent is wired; the defaults are wired well. */
interface Wiring {
  readonly qavr?: LearningOptions;
  readonly topK?: number;
  readonly found?: number;
  readonly similarityOf?: (place: number) => number;
  readonly idOf?: (lesson: number, run: number) => string;
  /** Place at which the list of found lessons begins at a run. @default the run's number */
  readonly turn?: (run: number) => number;
  /** The agent's answer to its nth call. */
  readonly answer?: (call: number) => string;
  /** A processor that refuses each request after the recall: the run is never heard of again. */
  readonly refused?: true;
  readonly after?: (memory: QavrMemory, runId: string, run: number) => Promise<unknown>;
}

/** Lets an agent of Mastra run, and returns the ids of what the doctor finds in its ledger. */
async function findingsOf({
  qavr = { evaluate: ({ text }) => text === "ab" },
  topK = 3,
  found = TEXTS.length,
  similarityOf = (place) => 0.9 - place * 0.05,
  idOf = (lesson) => `lesson-${lesson}`,
  turn = (run) => run,
  answer = (call) => (call % 3 === 0 ? "ab" : "abc"),
  refused,
  after,
}: Wiring): Promise<string[]> {
  const store = join(temporaryFolder(), "ledger.db");
  let run = 0;
  const collection = {
    name: "lessons",
    search: async () =>
      TEXTS.slice(0, found).map((_, place) => {
        const lesson = (place * 5 + turn(run)) % TEXTS.length;
        return { id: idOf(lesson, run), text: TEXTS[lesson] as string, similarity: similarityOf(place) };
      }),
  };
  const { storage } = libsql();
  const memory = new QavrMemory({
    storage,
    qavr: { store, logger: {}, collections: [{ collection, topK }], ...qavr },
  });
  const guard = { id: "guard", processInput: ({ abort }: { abort(why: string): never }) => abort("no") };
  const agent = scriptedAgent(
    memory,
    (_, call) => ({ text: answer(call) }),
    (refused ? { inputProcessors: [guard] } : {}) as never,
  );
  for (; run < RUNS; run++) {
    const { runId } = await agent.generate(`case ${run} of the desk`, {
      memory: { thread: `task-${run}`, resource: USER },
    });
    await memory.flush();
    await after?.(memory, runId as string, run);
  }
  await memory.close();
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, "doctor", "--json", "--store", store]).catch(
    (error: { stdout: string }) => error,
  );
  return (JSON.parse(stdout) as { data: { findings: { id: string }[] } }).data.findings.map(({ id }) => id);
}

/** Two hours from one reading to the next few: each run's time is over when the next one comes. */
const hourly = (): (() => number) => {
  let now = Date.now();
  return () => (now += 600_000);
};

const backwards = (): (() => number) => {
  let now = Date.now();
  let readings = 0;
  return () => (now += ++readings % 200 === 0 ? -3_600_000 : 1_000);
};

describe("qavr doctor, on the ledger of a Mastra agent", () => {
  it("is silent where the agent is wired well", async () => {
    expect(await findingsOf({})).toEqual([]);
  });

  const judged = { evaluate: ({ text }: { readonly text: string }) => text === "ab" };

  it.concurrent.each<[string, Wiring, string]>([
    ["refuses requests after the recall", { refused: true, qavr: { engine: { clock: hourly() } } }, "outcomes-missing"],
    ["leaves runs without an end", { refused: true, qavr: { engine: { clock: hourly() } } }, "abandoned-runs"],
    ["never shows most of what it finds", { turn: () => 0, qavr: { ...judged, holdout: 1 } }, "never-shown"],
    ["names each run as its context", { qavr: { ...judged, context: ({ threadId }) => threadId } }, "contexts-split"],
    [
      "names each run as its namespace",
      { qavr: { ...judged, namespace: ({ threadId }) => threadId } },
      "namespaces-split",
    ],
    [
      "shows the worst lessons most",
      {
        // Three of four requests find one list, and always fail.
        turn: (run) => (run % 4 === 0 ? 1 + run / 4 : 0),
        answer: (call) => (call % 4 === 0 ? "ab" : "abc"),
        qavr: { ...judged, holdout: 1 },
      },
      "worst-shown-most",
    ],
    [
      "ranks by scores whose floor no votes reach",
      { qavr: { ...judged, learner: score10() as Learner } },
      "unreachable-floor",
    ],
    ["gives lessons new ids at each run", { idOf: (lesson, run) => `${run}-${lesson}` }, "ids-change"],
    ["judges no run", { qavr: {} }, "nothing-judged"],
    ["has a judge that never says no", { qavr: { evaluate: () => true } }, "rewards-equal"],
    ["finds all lessons equally similar", { similarityOf: () => 0.5 }, "similarities-tied"],
    ["finds no more than it shows", { found: 3 }, "nothing-to-choose-from"],
    ["scores from 0.7 on", { qavr: { evaluate: ({ text }) => 0.7 + text.length / 20 } }, "one-sided-scores"],
    [
      "has users who contradict its judge",
      { after: (memory, runId, run) => memory.reportOutcome({ runId, success: run % 2 === 0, source: "thumbs" }) },
      "sources-disagree",
    ],
    [
      "has a clock that goes back",
      { qavr: { evaluate: ({ text }) => text === "ab", engine: { clock: backwards() } } },
      "clock",
    ],
  ])("finds that it %s", async (_, wiring, id) => {
    expect(await findingsOf(wiring)).toContain(id);
  });
});
