import { BaseCallbackHandler } from "@langchain/core/callbacks/base";

/** Receives the same awaited calls as the outcome handler and does nothing: the cost that LangChain itself charges for any handler. */
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
