import { QavrError } from "@qavr/core";

/** A function that embeds texts: one vector for each, all of one length, values finite. */
export type EmbedTexts = (texts: string[]) => PromiseLike<readonly ArrayLike<number>[]>;

/** A model that embeds texts: a function, `Embeddings` of LangChain, or an embedding model of the AI SDK. */
export type Embedder =
  | EmbedTexts
  | { embedDocuments: EmbedTexts; embedQuery(text: string): PromiseLike<ArrayLike<number>> }
  | {
      doEmbed(options: { values: string[] }): PromiseLike<{ readonly embeddings: readonly ArrayLike<number>[] }>;
      readonly maxEmbeddingsPerCall?: number | undefined | PromiseLike<number | undefined>;
    };

/** An embedding model in one shape. Vectors have length 1, or 0 where the model returns zeros. */
export interface TextEmbedding {
  /** @throws the model's error; INVALID_VECTOR for an answer that does not fit the texts */
  documents(texts: string[]): Promise<Float32Array[]>;
  /** @throws the same */
  query(text: string): Promise<Float32Array>;
}

/** True for each kind of {@link Embedder}. */
export function isEmbedder(value: unknown): value is Embedder {
  const model = value as { readonly embedDocuments?: unknown; readonly doEmbed?: unknown } | null | undefined;
  return [value, model?.embedDocuments, model?.doEmbed].some((call) => typeof call === "function");
}

export function textEmbedding(given: Embedder): TextEmbedding {
  const documents = async (texts: string[]): Promise<Float32Array[]> =>
    unitVectors(await embedAll(given, texts), texts);
  return {
    documents,
    async query(text) {
      const [vector] =
        "embedQuery" in given ? unitVectors([await given.embedQuery(text)], [text]) : await documents([text]);
      return vector as Float32Array;
    },
  };
}

async function embedAll(given: Embedder, texts: string[]): Promise<readonly ArrayLike<number>[]> {
  if (typeof given === "function") return given(texts);
  if ("embedDocuments" in given) return given.embedDocuments(texts);
  const most = (await given.maxEmbeddingsPerCall) ?? texts.length;
  const vectors: ArrayLike<number>[] = [];
  for (let start = 0; start < texts.length; start += most) {
    vectors.push(...(await given.doEmbed({ values: texts.slice(start, start + most) })).embeddings);
  }
  return vectors;
}

/** @throws INVALID_VECTOR */
function unitVectors(vectors: readonly ArrayLike<number>[], texts: readonly string[]): Float32Array[] {
  const list: readonly (ArrayLike<number> | null)[] = Array.isArray(vectors) ? vectors : [];
  const dims = list[0]?.length;
  if (!dims || list.length !== texts.length || list.some((vector) => vector?.length !== dims)) {
    const returned = Array.isArray(vectors) ? list.length : "none";
    throw invalid(
      `The embedding model must return one vector for each text, all of one length. It returned ${returned} for ${texts.length} texts, or of different lengths.`,
    );
  }
  return vectors.map((values) => {
    const vector = Float32Array.from(values);
    const length = Math.sqrt(dot(vector, vector));
    if (!Number.isFinite(length))
      throw invalid("The embedding model returned a vector with a value that is not finite.");
    return length === 0 ? vector : vector.map((value) => value / length);
  });
}

/** Scalar product of two vectors of one length. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function invalid(says: string): QavrError {
  return new QavrError("INVALID_VECTOR", `${says} Check the model.`);
}
