import { setTimeout as pause } from "node:timers/promises";
import type { MastraModelConfig } from "@mastra/core/llm";

/** The model's behaviour in one call. */
export type Turn =
  /** `delayMs` passes before each word. */
  | { readonly text: string; readonly delayMs?: number }
  | { readonly tool: string; readonly args?: unknown; readonly delayMs?: number }
  | { readonly tools: readonly { readonly tool: string; readonly args?: unknown }[] }
  /** The call rejects. */
  | { readonly error: Error }
  /** The stream carries an error part. */
  | { readonly streamError: Error };

/** One message of a prompt, as the AI SDK hands it to a model. */
export interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
}

export type Script = readonly Turn[] | ((prompt: readonly PromptMessage[], call: number) => Turn);

interface ScriptedModel {
  readonly model: MastraModelConfig;
  /** Every prompt that the model was given. */
  readonly prompts: (readonly PromptMessage[])[];
  /** Names of the tools that it was offered, per call. */
  readonly offered: string[][];
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A language model of the AI SDK (v2) that follows a script: one turn per call, the last one for ever. */
export function scriptedModel(script: Script): ScriptedModel {
  const prompts: (readonly PromptMessage[])[] = [];
  const offered: string[][] = [];
  let call = 0;
  const next = ({ prompt, tools }: CallOptions): Turn => {
    prompts.push(prompt);
    offered.push((tools ?? []).map(({ name }) => name));
    const turn = typeof script === "function" ? script(prompt, call) : script[Math.min(call, script.length - 1)];
    call += 1;
    return turn as Turn;
  };
  const model = {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate(options: CallOptions) {
      const turn = next(options);
      const request = requestOf(options);
      if ("error" in turn) throw turn.error;
      if ("streamError" in turn) throw turn.streamError;
      if ("delayMs" in turn && turn.delayMs) {
        await pause(turn.delayMs * deltasOf(turn).length, undefined, { signal: options.abortSignal });
      }
      const calls = callsOf(turn, call);
      if (calls.length > 0) return { content: calls, finishReason: "tool-calls", usage, warnings: [], request };
      return { content: [{ type: "text", text: textOf(turn) }], finishReason: "stop", usage, warnings: [], request };
    },
    async doStream(options: CallOptions) {
      const turn = next(options);
      if ("error" in turn) throw turn.error;
      const calls = callsOf(turn, call);
      const { abortSignal } = options;
      const stream = new ReadableStream({
        async start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({
            type: "response-metadata",
            id: `r${call}`,
            modelId: "scripted",
            timestamp: new Date(0),
          });
          if ("streamError" in turn) {
            controller.enqueue({ type: "error", error: turn.streamError });
            controller.enqueue({ type: "finish", finishReason: "error", usage });
            controller.close();
            return;
          }
          for (const part of calls) controller.enqueue(part);
          if (calls.length === 0) {
            controller.enqueue({ type: "text-start", id: "1" });
            for (const delta of deltasOf(turn)) {
              if ("delayMs" in turn && turn.delayMs) await pause(turn.delayMs);
              if (abortSignal?.aborted) {
                controller.error(new DOMException("aborted", "AbortError"));
                return;
              }
              controller.enqueue({ type: "text-delta", id: "1", delta });
            }
            controller.enqueue({ type: "text-end", id: "1" });
          }
          controller.enqueue({ type: "finish", finishReason: calls.length > 0 ? "tool-calls" : "stop", usage });
          controller.close();
        },
      });
      return { stream, request: requestOf(options) };
    },
  };
  return { model: model as unknown as MastraModelConfig, prompts, offered };
}

/** A model whose provider runs a tool that fails, before the model answers. */
export function searchingModel(): MastraModelConfig {
  const search = { toolCallId: "search-1", toolName: "web_search", providerExecuted: true };
  const call = { type: "tool-call", ...search, input: "{}" };
  const result = { type: "tool-result", ...search, result: { errorCode: "unavailable" }, isError: true };
  const content = [call, result, { type: "text", text: "sorry" }];
  const { model } = scriptedModel([]);
  const doGenerate = async () => ({ content, finishReason: "stop", usage, warnings: [] });
  return { ...(model as object), doGenerate } as unknown as MastraModelConfig;
}

/** All that a prompt says, in one string. */
export function promptText(prompt: readonly PromptMessage[] | undefined): string {
  return (prompt ?? [])
    .map(
      ({ role, content }) =>
        `${role}: ${typeof content === "string" ? content : content.map(({ text }) => text ?? "").join(" ")}`,
    )
    .join("\n");
}

interface CallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly { readonly name: string }[];
  readonly abortSignal?: AbortSignal;
}

/** The request as a provider reports it. */
function requestOf({ prompt }: CallOptions): { readonly body: object } {
  return { body: { messages: prompt } };
}

function callsOf(turn: Turn, call: number): object[] {
  const tools = "tools" in turn ? turn.tools : "tool" in turn ? [turn] : [];
  return tools.map(({ tool, args = {} }, place) => ({
    type: "tool-call",
    toolCallId: `call-${call}-${place}`,
    toolName: tool,
    input: JSON.stringify(args),
  }));
}

/** The streamed parts: words. */
function deltasOf(turn: Turn): string[] {
  return textOf(turn).split(/(?<= )/);
}

function textOf(turn: Turn): string {
  return "text" in turn ? turn.text : "";
}
