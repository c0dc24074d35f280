import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import { BaseDocumentCompressor } from "@langchain/core/retrievers/document_compressors";
import { assertFields, type MemoryHandle, type MemoryParts, partsOf } from "./memory-parts.js";
import { assertRankingOptions, DEFAULT_K, type RankingOptions } from "./ranking/ranking-options.js";
import { planRerank, rerank } from "./ranking/rerank.js";
import { findRun } from "./runs/find-run.js";

/** A compressor asks no store: it is given documents, without scores and vectors. */
type Unread = "fetchK" | "scores" | "space";
const UNREAD: readonly Unread[] = ["fetchK", "scores", "space"];

/** Options of a {@link QavrCompressor}. */
export interface CompressorOptions extends Omit<RankingOptions, Unread> {
  /** How many documents to keep. @default 4 */
  readonly topN?: number | undefined;
}

/** Fields of a {@link QavrCompressor}. */
export interface QavrCompressorFields extends CompressorOptions {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
}

/**
 * Keeps the `topN` documents that helped runs like this one most. Fits into ContextualCompressionRetriever,
 * MultiQueryRetriever and document compressor pipelines; compressors get no scores, so similarity is the rank.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED from the constructor.
 */
export class QavrCompressor extends BaseDocumentCompressor {
  readonly topN: number;
  readonly options: RankingOptions;
  readonly #parts: MemoryParts;

  constructor(fields: QavrCompressorFields) {
    super();
    assertFields("QavrCompressor", fields);
    const { memory, topN = DEFAULT_K, ...options } = fields;
    this.#parts = partsOf(memory);
    assertRankingOptions(options, { size: { name: "topN", value: topN }, without: UNREAD });
    this.topN = topN;
    this.options = options;
  }

  override async compressDocuments(
    documents: DocumentInterface[],
    query: string,
    callbacks?: Callbacks,
  ): Promise<DocumentInterface[]> {
    const parts = this.#parts;
    if (!parts.kit.engine.enabled) return documents.slice(0, this.topN);
    const site = findRun(parts.runs, callbacks);
    if (!site.tracked) parts.warnUntracked();
    const plan = planRerank(parts, site, this.options);
    const request = { ...plan, found: { documents }, text: query, k: this.topN, options: this.options };
    return (await rerank(parts, request)).documents;
  }
}
