import type { BaseMessage } from "@langchain/core/messages";
import { AIMessage } from "@langchain/core/messages";
import { type FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import { type AgentMiddleware, FakeToolCallingModel, humanInTheLoopMiddleware } from "langchain";
import { QUESTION } from "./bench.js";

export type Call = { name: string; args: Record<string, unknown>; id: string };

export const ask = (content: string): { messages: { role: "user"; content: string }[] } => ({
  messages: [{ role: "user", content }],
});

/** {@link QUESTION}, as an agent is asked it. */
export const ASKED: ReturnType<typeof ask> = ask(QUESTION);

/** A model that makes these tool calls, one step each, and then answers. */
export const calling = (...steps: Call[][]): FakeToolCallingModel =>
  new FakeToolCallingModel({ toolCalls: [...steps, []] });

/** The same, and it records what it was asked in `calls`. Its messages have ids of their own, so that turns can follow each other. */
export function recording(...steps: Call[][]): FakeBuiltModel {
  const model = fakeModel();
  for (const tool_calls of steps) model.respond(new AIMessage({ content: "", tool_calls, id: crypto.randomUUID() }));
  return model.respond(new AIMessage("done"));
}

/** The text of the system prompt of each call. */
export const systemPrompts = ({ calls }: FakeBuiltModel): string[] =>
  calls.map(({ messages }) =>
    messages
      .filter(({ type }) => type === "system")
      .map(({ text }) => text)
      .join("\n"),
  );

/** A person must approve calls of the tool `act`. Its declared type does not compile under exactOptionalPropertyTypes. */
export const approval = (): AgentMiddleware =>
  (humanInTheLoopMiddleware as (options: unknown) => unknown)({ interruptOn: { act: true } }) as AgentMiddleware;

export const messageOf = (
  result: { messages: readonly unknown[] },
  name: string,
): BaseMessage & { artifact?: { id?: string }[] } =>
  result.messages.find((message) => (message as { name?: string }).name === name) as BaseMessage;
