import { BaseCallbackHandler } from "@langchain/core/callbacks/base";

/** Hears what the outcome handler hears, is awaited as it is, and does nothing: what LangChain itself asks for any handler. */
export class SilentHandler extends BaseCallbackHandler {
  override readonly name: string = "silent";

  constructor() {
    super({ _awaitHandler: true, ignoreLLM: true, ignoreCustomEvent: true });
  }

  override copy(): BaseCallbackHandler {
    return this;
  }

  override handleChainStart(): void {}
  override handleChainEnd(): void {}
  override handleToolStart(): void {}
  override handleToolEnd(): void {}
  override handleRetrieverStart(): void {}
  override handleRetrieverEnd(): void {}
}
