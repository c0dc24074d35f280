import { createScorer, type MastraScorer } from "@mastra/core/evals";
import { Mastra } from "@mastra/core/mastra";
import { BaseExporter, Observability } from "@mastra/observability";
import type { LearningOptions, QavrMemoryFields } from "@qavr/mastra";
import { type Bench, bench, latest, NOTE, on, QUESTION, remember, scriptedAgent, THREAD } from "./bench.js";

/** A memory that knows one note, and a run that was shown it. */
export async function answered(
  qavr: LearningOptions = {},
  fields: Partial<QavrMemoryFields> = {},
): Promise<Bench & { readonly runId: string }> {
  const given = bench(qavr, fields);
  await remember(given.memory, NOTE);
  const { runId } = await scriptedAgent(given.memory, [{ text: "with helm" }]).generate(QUESTION, { memory: on });
  return { ...given, runId: runId as string };
}

class Silent extends BaseExporter {
  name = "silent";
  override async _exportTracingEvent(): Promise<void> {}
}

/** An observability without other exporters. */
export const quietObservability = (): Observability =>
  new Observability({ configs: { default: { serviceName: "test", exporters: [new Silent()] } } });

export const half: MastraScorer = createScorer({
  id: "quality",
  description: "Half good.",
  type: "agent",
}).generateScore(() => 0.5);

/** A Mastra application whose agent is judged by a scorer after each run. */
export async function judged(
  qavr: LearningOptions,
  scorerOf: (given: Bench) => MastraScorer,
  observed: boolean,
  fields: Partial<Parameters<typeof bench>[1]> = {},
): Promise<Bench & { readonly runId: string; readonly traceId: string | undefined; readonly mastra: Mastra }> {
  const given = bench(qavr, fields);
  await remember(given.memory, NOTE);
  const scorer = scorerOf(given);
  const agent = scriptedAgent(given.memory, [{ text: "with helm" }], {
    scorers: { quality: { scorer, sampling: { type: "ratio", rate: 1 } } },
  });
  const mastra = new Mastra({
    agents: { agent },
    storage: fields.storage ?? given.storage,
    logger: false,
    ...(observed ? { observability: quietObservability() } : {}),
  });
  const { runId, traceId } = await agent.generate(QUESTION, { memory: on });
  return { ...given, runId: runId as string, traceId, mastra };
}

/** Gives feedback as an application does in its code. */
export async function giveFeedback(
  { mastra, traceId }: { readonly mastra: Mastra; readonly traceId: string | undefined },
  feedback: object,
  correlationContext: object = {},
): Promise<void> {
  const observability = mastra.observability as unknown as { addFeedback(args: object): Promise<void> };
  await observability.addFeedback({ traceId, correlationContext, feedback: { feedbackSource: "user", ...feedback } });
}

export const rewardOf = async ({ memory }: Bench): Promise<unknown> => (await latest(memory, THREAD))?.outcome;
