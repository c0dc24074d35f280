import type { MastraEmbeddingModel } from "@mastra/core/vector";
import { HASHED_DIMS, hashedVector } from "@qavr/core";

/** An embedding model of the AI SDK (v2) that hashes words and character runs: deterministic, without a network. */
export function hashedEmbedder(): MastraEmbeddingModel<string> {
  const embed = (text: string): number[] => Array.from(hashedVector(text) ?? new Float32Array(HASHED_DIMS).fill(1));
  return {
    specificationVersion: "v2",
    provider: "hashed",
    modelId: "hashed",
    maxEmbeddingsPerCall: 256,
    supportsParallelCalls: true,
    doEmbed: async ({ values }: { values: string[] }) => ({ embeddings: values.map(embed), usage: { tokens: 0 } }),
  } as unknown as MastraEmbeddingModel<string>;
}
