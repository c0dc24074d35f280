import type { SystemMessage } from "@langchain/core/messages";

/** A system prompt with a block behind it, so that a provider's prompt cache still knows its beginning. */
export function withBlock(systemMessage: SystemMessage, block: string): SystemMessage {
  return systemMessage.concat(systemMessage.content.length === 0 ? block : `\n\n${block}`);
}
