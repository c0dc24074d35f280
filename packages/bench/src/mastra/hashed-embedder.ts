import type { MastraEmbeddingModel } from "@mastra/core/vector";
import { hashedVector } from "@qavr/core/learner";

/** Few, because a search among long vectors would take most of a run's time and hide what a memory takes. */
export const EMBEDDING_DIMS = 256;

/** An embedding model of the AI SDK (v2) that hashes words and character runs: deterministic, without a network. */
export function hashedEmbedder(): MastraEmbeddingModel<string> {
  return {
    specificationVersion: "v2",
    provider: "hashed",
    modelId: `hashed-${EMBEDDING_DIMS}`,
    maxEmbeddingsPerCall: 256,
    supportsParallelCalls: true,
    doEmbed: async ({ values }: { values: string[] }) => ({ embeddings: values.map(embed), usage: { tokens: 0 } }),
  } as unknown as MastraEmbeddingModel<string>;
}

function embed(text: string): number[] {
  const vector = hashedVector(text);
  const sums = new Array<number>(EMBEDDING_DIMS).fill(vector ? 0 : 1);
  vector?.forEach((value, i) => {
    sums[i % EMBEDDING_DIMS] = (sums[i % EMBEDDING_DIMS] as number) + value;
  });
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => sum / length);
}
