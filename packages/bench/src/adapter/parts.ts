import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { RunnableLambda } from "@langchain/core/runnables";
import { createAgent, FakeToolCallingModel, tool } from "langchain";
import type { Measured } from "../speed/measure.js";
import type { DocumentIndex } from "./document-index.js";
import { recordRun } from "./recorded-run.js";
import { SilentHandler } from "./silent-handler.js";
import { FETCHED, type WarmMemory } from "./warm-memory.js";

/** Names of the measured parts. */
export const PARTS = {
  plain: "plain retriever, k = 50",
  heard: "plain retriever, k = 50, in a run with a silent handler",
  tracked: "QavrRetriever, k = 5 of 50, in a tracked run",
  bare: "QavrRetriever, k = 5 of 50, outside any run, recorded at once",
  chainHeard: "chain of three steps, silent handler",
  chainTracked: "chain of three steps, tracked",
  agentHeard: "callbacks of an agent run with one tool call, played to a silent handler",
  agentTracked: "callbacks of an agent run with one tool call, played to the outcome handler",
  ending: "end of a tracked run that retrieved: record and learn, memory store",
} as const;

/** What a part's clock starts with: the callbacks of a run that has begun. */
interface Begun {
  readonly runId: string;
  readonly callbacks: CallbackManager;
}

/** Everything that is timed. Runs begin and end outside the clock, except where that is what is timed. */
export async function adapterParts(
  { store, question }: DocumentIndex,
  { memory, retriever }: WarmMemory,
): Promise<Measured<never>[]> {
  const silent = new SilentHandler();
  const plain = store.asRetriever(FETCHED);
  const begin = beginning(memory.handler);
  const end = (_result: unknown): Promise<void> => memory.handler.handleChainEnd({}, begin.last());
  const chain = (): RunnableLambda<number, number> => RunnableLambda.from((value: number) => value + 1);
  const steps = chain().pipe(chain()).pipe(chain());
  const heardSteps = steps.withConfig({ callbacks: [silent] });
  const trackedSteps = memory.track(steps);
  const asked = { messages: [{ role: "user" as const, content: "go on" }] };
  const agentRun = await recordRun((handler) => oneToolAgent().invoke(asked, { callbacks: [handler] }));
  let played = 0;
  const parts: Measured<Begun>[] = [
    { name: PARTS.plain, run: (query) => plain.invoke(question(query)) },
    {
      name: PARTS.heard,
      prepare: () => begun(silent, "silent"),
      run: (query, { callbacks }) => plain.invoke(question(query), { callbacks }),
    },
    {
      name: PARTS.tracked,
      prepare: begin.run,
      run: (query, { callbacks }) => retriever.invoke(question(query), { callbacks }),
      finish: end,
    },
    { name: PARTS.bare, run: (query) => retriever.invoke(question(query)) },
    { name: PARTS.chainHeard, run: (query) => heardSteps.invoke(query) },
    { name: PARTS.chainTracked, run: (query) => trackedSteps.invoke(query) },
    { name: PARTS.agentHeard, run: () => agentRun.play(silent, played++) },
    { name: PARTS.agentTracked, run: () => agentRun.play(memory.handler, played++) },
    {
      name: PARTS.ending,
      prepare: async (query) => {
        const run = begin.run();
        await retriever.invoke(question(query), { callbacks: run.callbacks });
        return run;
      },
      run: (_query, { runId }) => memory.handler.handleChainEnd({}, runId),
    },
  ];
  return parts as Measured<never>[];
}

/** Begins root runs of a handler, one after the other. */
function beginning(handler: BaseCallbackHandler): { run(): Begun; last(): string } {
  let count = 0;
  const last = (): string => `run-${count}`;
  return {
    last,
    run() {
      count += 1;
      handler.handleChainStart?.({} as never, {}, last());
      return begun(handler, last());
    },
  };
}

/** The callbacks that a run hands to its parts. */
function begun(handler: BaseCallbackHandler, runId: string): Begun {
  const callbacks = new CallbackManager(runId);
  callbacks.addHandler(handler, true);
  return { runId, callbacks };
}

function oneToolAgent(): ReturnType<typeof createAgent> {
  const schema = { type: "object", properties: {} } as const;
  const act = tool(() => "acted", { name: "act", description: "acts", schema });
  const model = new FakeToolCallingModel({ toolCalls: [[{ name: "act", args: {}, id: "c1" }], []] });
  return createAgent({ model, tools: [act] }) as ReturnType<typeof createAgent>;
}
