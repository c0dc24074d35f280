import { setTimeout as delay } from "node:timers/promises";
import { SimpleChatModel } from "@langchain/core/language_models/chat_models";

/** How long a model takes to answer, the embedding model and the chat model alike. */
export interface ModelCalls {
  /** ms; 0 answers at once. */
  delay: number;
  /** Resolves when a call would be answered. */
  answered(): Promise<void>;
}

export function modelCalls(): ModelCalls {
  return {
    delay: 0,
    async answered() {
      if (this.delay > 0) await delay(this.delay);
    },
  };
}

/** A chat model that always gives the same answer. */
export class RepeatingModel extends SimpleChatModel {
  readonly #answer: string;
  readonly #calls: ModelCalls;

  constructor(answer: string, calls: ModelCalls) {
    super({});
    this.#answer = answer;
    this.#calls = calls;
  }

  override _llmType(): string {
    return "repeating";
  }

  override async _call(): Promise<string> {
    await this.#calls.answered();
    return this.#answer;
  }
}
