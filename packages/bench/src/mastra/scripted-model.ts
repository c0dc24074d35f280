import type { MastraModelConfig } from "@mastra/core/llm";

/** One message of a prompt. */
interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
}

/** Answer of a scripted model to a prompt. */
export type Reply =
  | { readonly text: string }
  | { readonly tool: string; readonly args?: unknown }
  | { readonly error: Error };

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/**
 * A language model of the AI SDK (v2) that answers by a function of the prompt: for measurements and examples without a network.
 *
 * @param reply is given the whole prompt as text, and the last message's role
 */
export function scriptedModel(reply: (prompt: string, lastRole: string) => Reply): MastraModelConfig {
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: readonly Message[] }) {
      const said = reply(promptText(prompt), prompt.at(-1)?.role ?? "");
      if ("error" in said) throw said.error;
      const content = "tool" in said ? [toolCall(said)] : [{ type: "text", text: said.text }];
      return { content, finishReason: "tool" in said ? "tool-calls" : "stop", usage, warnings: [] };
    },
    async doStream({ prompt }: { prompt: readonly Message[] }) {
      const said = reply(promptText(prompt), prompt.at(-1)?.role ?? "");
      if ("error" in said) throw said.error;
      const parts =
        "tool" in said
          ? [toolCall(said)]
          : [
              { type: "text-start", id: "1" },
              ...said.text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta })),
              { type: "text-end", id: "1" },
            ];
      const finishReason = "tool" in said ? "tool-calls" : "stop";
      const stream = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }];
      return { stream: ReadableStream.from(stream) };
    },
  } as unknown as MastraModelConfig;
}

function toolCall({ tool, args = {} }: { readonly tool: string; readonly args?: unknown }): object {
  return { type: "tool-call", toolCallId: `call-${tool}`, toolName: tool, input: JSON.stringify(args) };
}

function promptText(prompt: readonly Message[]): string {
  const textOf = ({ content }: Message): string =>
    typeof content === "string" ? content : content.map(({ text }) => text ?? "").join(" ");
  return prompt.map((message) => `${message.role}: ${textOf(message)}`).join("\n");
}
