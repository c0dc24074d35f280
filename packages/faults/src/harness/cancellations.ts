import { join } from "node:path";
import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { RunnableLambda } from "@langchain/core/runnables";
import { replay, verify } from "@qavr/core/maintenance";
import { seededRandom } from "@qavr/lab";
import { type Qavr, qavr } from "@qavr/langchain";

import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { inFolder } from "./workspace.js";

const RUNS = { quick: 120, full: 5_000 } as const;
/** Runs under way at once. */
const AT_ONCE = 20;
/** Turns of the event loop that a run takes, about: an abort comes at any of them, or too late. */
const TURNS = 12;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** Ten documents that are always found, after some turns. */
class Shelf extends BaseRetriever {
  readonly lc_namespace = ["faults"];

  override async _getRelevantDocuments(): Promise<Document[]> {
    await turns(2);
    return Array.from({ length: 10 }, (_, i) => new Document({ id: `m${i}`, pageContent: `lesson ${i}` }));
  }
}

interface Cancelled {
  aborted: number;
  completed: number;
  /** Settled in another way than by its result or its abort. */
  otherwise: number;
}

/** How an application gives up: by the signal that it hands over, or, wrongly, by an error of its own. */
type GivingUp = "by signal" | "by error";

async function cancelAtRandom(memory: Qavr, runs: number, giveUp: GivingUp): Promise<Cancelled> {
  const random = seededRandom(3);
  const retriever = memory.retriever(new Shelf(), { k: 3 });
  const think = async (): Promise<string> => {
    await turns(4);
    return "done";
  };
  const chain = retriever.pipe(RunnableLambda.from(think)).pipe(RunnableLambda.from(think));
  const seen: Cancelled = { aborted: 0, completed: 0, otherwise: 0 };
  const once = async (after: number): Promise<void> => {
    const controller = new AbortController();
    const { signal } = controller;
    const checked = chain.pipe((answer) => {
      if (giveUp === "by error" && signal.aborted) throw new RangeError("gave up");
      return answer;
    });
    const running = memory
      .track(checked)
      .invoke("how?", giveUp === "by signal" ? { signal } : {})
      .then(
        (answer) => (answer === "done" ? "completed" : "otherwise"),
        ({ name }: Error) => (name === "AbortError" ? "aborted" : "otherwise"),
      );
    await turns(after);
    controller.abort();
    seen[await running] += 1;
  };
  for (let run = 0; run < runs; run += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => once(Math.floor(2 * TURNS * random()))));
  }
  return seen;
}

async function cancellationsOf(
  runs: number,
  giveUp: GivingUp = "by signal",
): Promise<Cancelled & { readonly broken: readonly string[] }> {
  const unhandled: unknown[] = [];
  const hear = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", hear);
  try {
    return await inFolder(async (folder) => {
      const path = join(folder, "ledger.db");
      const memory = qavr({ store: sqliteStore(path), logger: {} });
      const seen = await cancelAtRandom(memory, runs, giveUp);
      await memory.flush();
      await turns(5);
      const { outcomes, episodes } = await memory.status();
      const rewards = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
      const broken: string[] = [];
      if (seen.otherwise > 0) broken.push(`${seen.otherwise} runs settled otherwise`);
      if (rewards !== seen.completed) broken.push(`${rewards} outcomes of ${seen.completed} completed runs`);
      if (memory.handler.openRuns > 0 || episodes.open > 0) broken.push(`${memory.handler.openRuns} runs stayed open`);
      if (unhandled.length > 0) broken.push(`${unhandled.length} unhandled rejections, ${String(unhandled[0])}`);
      const { ok } = await verify(memory.engine);
      if (!(ok && (await replay(memory.engine)).identical)) broken.push("the ledger does not verify");
      await memory.close();
      return { ...seen, broken };
    });
  } finally {
    process.off("unhandledRejection", hear);
  }
}

export const cancellations: Harness = {
  name: "cancellations",
  async run(size): Promise<readonly CheckResult[]> {
    const { aborted, completed, broken } = await cancellationsOf(RUNS[size]);
    const mutant = await cancellationsOf(RUNS.quick, "by error");
    return [
      {
        promise: "R21",
        what: "an abort at any turn of a tracked LangChain run (SQLite)",
        tried: `${RUNS[size].toLocaleString("en")} runs, ${aborted.toLocaleString("en")} aborted`,
        seen:
          broken.length === 0
            ? `${completed.toLocaleString("en")} outcomes of ${completed.toLocaleString("en")} completed runs, none of an aborted one; nothing left open or unhandled`
            : broken.join("; "),
        held: broken.length === 0 && aborted > 0 && completed > 0,
      },
      mutantResult({
        what: "an application that gives up by errors of its own",
        tried: `${RUNS.quick} runs`,
        seen: mutant.broken.join("; ") || "not found",
        held: mutant.broken.length > 0,
      }),
    ];
  },
};
