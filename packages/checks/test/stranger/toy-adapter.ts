import { createEngine, type EngineOptions, type OutcomeReceipt } from "@qavr/core";
import {
  checkFields,
  createRunKit,
  createRunSession,
  ENGINE_OPTION_TABLE,
  type Evaluate,
  type FieldRules,
  FUNCTION,
  isEnabled,
  type Outcome,
  oneOf,
  type RunSession,
  storableId,
} from "@qavr/core/adapter";

/** The toy framework: a bot searches notes and answers. Its runs have ids and may be suspended. */
export interface Note {
  readonly key: string;
  readonly text: string;
  readonly score: number;
}
export type Search = (question: string, limit: number) => Promise<readonly Note[]>;
export type Answer = (question: string, notes: readonly Note[]) => Promise<string>;

/** A finished run, as the `evaluate` option sees it. */
export interface FinishedBotRun {
  readonly question: string;
  readonly answer: string;
}

export interface BotOptions extends EngineOptions {
  readonly evaluate?: Evaluate<FinishedBotRun> | undefined;
  readonly onError?: "open" | "throw" | undefined;
}

const OPTIONS: FieldRules<BotOptions> = {
  ...ENGINE_OPTION_TABLE,
  evaluate: FUNCTION,
  onError: oneOf("open", "throw"),
};

const LIMIT = 2;
const namespace = "default";

/** A bot that shows the notes that helped first, and learns from how its runs end. */
export function learningBot(search: Search, answer: Answer, options: BotOptions): LearningBot {
  checkFields("learningBot()", options, OPTIONS);
  const { evaluate, onError, ...engineOptions } = options;
  const engine = createEngine({ ...engineOptions, enabled: isEnabled(options) });
  const kit = createRunKit({ engine, logger: options.logger, onError, storable: storableId });

  const recall = async (session: RunSession, runId: string, question: string): Promise<readonly Note[]> => {
    const width = (await kit.fetchSize({ namespace, topK: LIMIT }, runId)) ?? LIMIT;
    const found = await search(question, width);
    const ranked = await kit.rank({
      session,
      runId,
      mapIn: () => ({
        namespace,
        text: question,
        topK: LIMIT,
        candidates: found.map(({ key, text, score }) => ({ id: storableId(key), text, similarity: score })),
      }),
      mapOut: ({ items }) => items.map(({ index }) => found[index] as Note),
    });
    return ranked ?? found.slice(0, LIMIT);
  };

  return {
    async run(runId, question) {
      const session = createRunSession({ engine, open: () => engine.open({ namespace, aliases: [runId] }) });
      const resumed = await kit.resume([`waiting:${runId}`], { namespace, runId });
      if (resumed !== undefined) session.add(namespace, resumed);
      try {
        const text = await answer(question, await recall(session, runId, question));
        const run = { question, answer: text };
        const outcome = evaluate ? await kit.judge(evaluate, run, runId) : { reward: 1, tier: "completed" as const };
        await kit.held(kit.record(() => session.end({ outcome }), runId));
        return text;
      } catch (error) {
        const isSuspended = error === SUSPEND;
        const end = (): Promise<void> =>
          isSuspended ? session.suspend(`waiting:${runId}`) : session.end({ outcome: { reward: 0, tier: "observed" } });
        await kit.held(kit.record(end, runId), isSuspended);
        throw error;
      }
    },
    report: (runId, outcome) => kit.report({ reference: runId, namespace, isUnshown: false }, outcome),
    flush: () => kit.flush(),
  };
}

/** Thrown by an answer that waits for a person. */
export const SUSPEND: Error = new Error("suspended");

export interface LearningBot {
  run(runId: string, question: string): Promise<string>;
  report(runId: string, outcome: Outcome): Promise<OutcomeReceipt>;
  flush(): Promise<void>;
}
