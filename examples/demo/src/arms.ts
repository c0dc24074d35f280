import { join } from "node:path";
import type { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import type { BaseLanguageModelInterface } from "@langchain/core/language_models/base";
import { type Candidate, type Logger, qValue, type RankedItem } from "@qavr/core";
import { type QavrOptions, qavr } from "@qavr/langchain";
import { answerChain } from "./chain.js";
import type { CheckedRun } from "./checker.js";

/** One way to pick lessons, running the same chain as the others. */
export interface Arm {
  readonly name: ArmName;
  /** Runs the chain on a question; a learning arm learns from how it ends. */
  answer(question: string): Promise<string>;
  /** Ranks a request, best first, without recording anything. */
  rank(request: HeldOutRequest): Promise<readonly RankedLesson[]>;
  /** Path of its ledger; undefined for an arm without one. */
  readonly ledger: string | undefined;
  close(): Promise<void>;
}

/** In the order of the table. */
export const ARM_NAMES = ["similarity", "QAVR", "qavr"] as const;
export type ArmName = (typeof ARM_NAMES)[number];

/** A request with what the store finds for it. */
export interface HeldOutRequest {
  readonly vector: readonly number[];
  /** Best first. */
  readonly candidates: readonly Candidate[];
}

/** A lesson in its place, with the reasons where the arm has any. */
export type RankedLesson = Pick<RankedItem, "id" | "similarity"> &
  Partial<Pick<RankedItem, "learned" | "evidence" | "index">>;

export interface ArmOptions {
  readonly store: MemoryVectorStore;
  readonly model: BaseLanguageModelInterface;
  /** Lessons shown per request. */
  readonly k: number;
  readonly evaluate: (run: CheckedRun) => boolean | undefined;
  /** Folder for the ledgers. */
  readonly folder: string;
  /** Share of the runs that qavr serves in the store's order, so that its own ledger measures what learning is worth. @default its own */
  readonly holdout: number | undefined;
}

/** Candidates that qavr chooses from by default; QAVR's formula says 2 · k. */
export const FETCHED = 50;

/** Ids that are the same each time: they decide which runs are held out. */
function numbered(): () => string {
  let runs = 0;
  return () => `run-${++runs}`;
}

/** Name of the embedding space: held-out requests are ranked in the one that the stream learned in. */
const SPACE = "lsa-256";

/** Whatever the engine has to complain about would make the numbers wrong, so it is shown. */
const LOGGER: Logger = {
  warn: (message, { code }) => void process.stderr.write(`${code}: ${message}\n`),
  error: (message, { code }) => void process.stderr.write(`${code}: ${message}\n`),
};

/** The three arms, in the order of the table. */
export function createArms(options: ArmOptions): readonly Arm[] {
  return [
    plainArm(options),
    // Its published constants and reward table (success 1, failure −0.2): over eight seeds the stronger of its two reward
    // schemes; the other, 1 and 0 in a code comment, is `qValue({ rewards: { failed: 0 } })`.
    learningArm("QAVR", options, { learner: qValue() }),
    learningArm("qavr", options, { holdout: options.holdout, engine: { createId: numbered() } }),
  ];
}

/** The host's own retriever. */
function plainArm({ store, model, k }: ArmOptions): Arm {
  const chain = answerChain(store.asRetriever(k), model);
  return {
    name: "similarity",
    answer: (question) => chain.invoke(question),
    rank: async ({ candidates }) => candidates.slice(0, k),
    ledger: undefined,
    close: async () => {},
  };
}

function learningArm(
  name: ArmName,
  { store, model, k, evaluate, folder }: ArmOptions,
  learning: Pick<QavrOptions, "learner" | "holdout" | "engine">,
): Arm {
  const ledger = join(folder, `${name === "QAVR" ? "formula" : "qavr"}.db`);
  const memory = qavr({
    store: ledger,
    logger: LOGGER,
    evaluate,
    label: ({ pageContent }) => pageContent,
    ...learning,
  });
  const retriever = memory.retriever(store, { k, space: SPACE });
  const chain = memory.track(answerChain(retriever, model));
  return {
    name,
    async answer(question) {
      const output = await chain.invoke(question);
      // Outcomes are recorded behind the run. The demo waits, so that it gives the same numbers each time.
      await memory.engine.flush();
      return output;
    },
    async rank({ vector, candidates }) {
      const width = await memory.engine.fetchSize({ topK: k });
      const { items } = await memory.engine.rank({
        vector,
        space: SPACE,
        candidates: candidates.slice(0, width),
        topK: k,
        record: false,
      });
      return items;
    },
    ledger,
    close: () => memory.close(),
  };
}
