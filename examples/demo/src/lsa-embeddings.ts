import { Embeddings } from "@langchain/core/embeddings";
import type { Embed } from "@qavr/lab";

/** The bench's LSA vectors as a LangChain embedding model: offline, deterministic, 256 floats of unit length per text. */
export class LsaEmbeddings extends Embeddings {
  /** Names the space of the vectors, so that a change of model would be noticed. */
  readonly model = "lsa-256";
  readonly #embed: Embed;

  constructor(embed: Embed) {
    super({});
    this.#embed = embed;
  }

  override async embedQuery(text: string): Promise<number[]> {
    return Array.from(this.#embed(text));
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}
