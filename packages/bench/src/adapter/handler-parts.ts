import { RunnableLambda } from "@langchain/core/runnables";
import type { Qavr } from "@qavr/langchain";
import { createAgent, FakeToolCallingModel, tool } from "langchain";
import type { Measured } from "../speed/measure.js";
import { recordRun } from "./recorded-run.js";
import { SilentHandler } from "./silent-handler.js";

/** Names of the runs that retrieve nothing. */
export const HANDLER_PARTS = {
  chainSilent: "chain of three steps, silent handler",
  chainTracked: "chain of three steps, tracked",
  agentSilent: "callbacks of an agent run with one tool call, played to a silent handler",
  agentTracked: "callbacks of an agent run with one tool call, played to the outcome handler",
} as const;

/** Runs that retrieve nothing: what remains is the outcome handler's own work. */
export async function handlerParts(memory: Qavr): Promise<readonly Measured[]> {
  const silent = new SilentHandler();
  const step = (): RunnableLambda<number, number> => RunnableLambda.from((value: number) => value + 1);
  const steps = step().pipe(step()).pipe(step());
  const silentSteps = steps.withConfig({ callbacks: [silent] });
  const trackedSteps = memory.track(steps);
  const asked = { messages: [{ role: "user" as const, content: "go on" }] };
  const agentRun = await recordRun((handler) => oneToolAgent().invoke(asked, { callbacks: [handler] }));
  let played = 0;
  return [
    { name: HANDLER_PARTS.chainSilent, run: (query) => silentSteps.invoke(query) },
    { name: HANDLER_PARTS.chainTracked, run: (query) => trackedSteps.invoke(query) },
    { name: HANDLER_PARTS.agentSilent, run: () => agentRun.play(silent, played++) },
    { name: HANDLER_PARTS.agentTracked, run: () => agentRun.play(memory.handler, played++) },
  ];
}

function oneToolAgent(): ReturnType<typeof createAgent> {
  const schema = { type: "object", properties: {} } as const;
  const act = tool(() => "acted", { name: "act", description: "acts", schema });
  const model = new FakeToolCallingModel({ toolCalls: [[{ name: "act", args: {}, id: "c1" }], []] });
  return createAgent({ model, tools: [act] }) as ReturnType<typeof createAgent>;
}
