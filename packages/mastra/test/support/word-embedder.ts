import type { MastraEmbeddingModel } from "@mastra/core/vector";

/** Length of its vectors. */
export const DIMENSION = 256;

/** An embedding model of the AI SDK (v2) that counts words, hashed: the same text gives the same vector, without a network. */
export function wordEmbedder(modelId: string = "words"): MastraEmbeddingModel<string> {
  return {
    specificationVersion: "v2",
    provider: "words",
    modelId,
    maxEmbeddingsPerCall: 256,
    supportsParallelCalls: true,
    async doEmbed({ values }: { values: string[] }) {
      return { embeddings: values.map(wordVector), usage: { tokens: values.length } };
    },
  } as unknown as MastraEmbeddingModel<string>;
}

export function wordVector(text: string): number[] {
  const counts = new Array<number>(DIMENSION).fill(0);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
    let hash = 2_166_136_261;
    for (const character of word) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0;
    counts[hash % DIMENSION] = (counts[hash % DIMENSION] as number) + 1;
  }
  const length = Math.hypot(...counts) || 1;
  return counts.map((count) => count / length);
}
