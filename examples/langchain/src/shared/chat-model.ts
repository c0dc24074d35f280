import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { initChatModel } from "langchain";

/** The answer of the offline model to a conversation. */
export type Reply = (messages: readonly BaseMessage[]) => AIMessage;

/** Stands for a model: answers by a rule, without a network and without a key. */
class OfflineModel extends BaseChatModel {
  readonly #reply: Reply;

  constructor(reply: Reply) {
    super({});
    this.#reply = reply;
  }

  override _llmType(): string {
    return "offline";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.#reply(messages);
    return { generations: [{ text: message.text, message }] };
  }
}

/**
 * The model of an example: the offline one, or with `--live` a real one, which needs OPENAI_API_KEY.
 *
 * @throws Error when a key is asked for and there is none
 */
export async function chatModel(reply: Reply): Promise<BaseChatModel> {
  if (!process.argv.includes("--live")) return new OfflineModel(reply);
  if (!process.env.OPENAI_API_KEY) throw new Error("--live needs the environment variable OPENAI_API_KEY.");
  return (await initChatModel("openai:gpt-5-mini")) as unknown as BaseChatModel;
}
