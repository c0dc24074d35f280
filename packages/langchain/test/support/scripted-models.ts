import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { SimpleChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { fakeModel } from "@langchain/core/testing";

/** A model that answers text, and can do nothing else. Keeps what it was asked. */
export class TextModel extends SimpleChatModel {
  readonly asked: string[] = [];

  constructor(readonly answers: readonly (string | Error)[]) {
    super({});
  }

  _llmType(): string {
    return "text";
  }

  async _call(messages: BaseMessage[]): Promise<string> {
    const answer = this.answers[this.asked.length % this.answers.length];
    this.asked.push(messages.map(({ text }) => text).join("\n\n"));
    if (answer instanceof Error) throw answer;
    return answer as string;
  }
}

/** A model whose structured output is LangChain's own: a tool call without validation. */
class ToolModel extends TextModel {
  constructor(
    readonly args: Record<string, unknown>,
    readonly chunked: boolean,
  ) {
    super([""]);
  }

  override async _generate(): Promise<ChatResult> {
    const tool_calls = [{ name: "reflection", args: this.args, id: "c1", type: "tool_call" as const }];
    const message = this.chunked
      ? new AIMessageChunk({ content: "", tool_calls })
      : new AIMessage({ content: "", tool_calls });
    return { generations: [{ text: "", message }] };
  }

  override bindTools(): this {
    return this;
  }
}

/** Models that answer the same thing in every way that models answer. */
export function everyKindOfModel(answer: Record<string, unknown>): [kind: string, model: BaseChatModel][] {
  const json = JSON.stringify(answer);
  return [
    ["answers JSON and has no tools", new TextModel([json])],
    ["answers fenced JSON", new TextModel([`\`\`\`json\n${json}\n\`\`\``])],
    ["wraps JSON in prose", new TextModel([`Here is what I found:\n${json}\nI hope that helps.`])],
    ["calls a tool", new ToolModel(answer, true)],
    ["calls a tool with a message that LangChain's parser refuses", new ToolModel(answer, false)],
    ["has structured output of its own", fakeModel().structuredResponse(answer) as BaseChatModel],
  ];
}
