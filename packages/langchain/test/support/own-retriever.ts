import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import type { RunnableConfig } from "@langchain/core/runnables";

type Find = (question: string, config: RunnableConfig) => Promise<DocumentInterface[]>;

/** A retriever as an application writes its own: what it calls is given a config that hands its run on. */
export class OwnRetriever extends BaseRetriever {
  override lc_namespace: string[] = ["test"];
  readonly #find: Find;

  constructor(find: Find) {
    super({});
    this.#find = find;
  }

  override _getRelevantDocuments(
    question: string,
    manager?: CallbackManagerForRetrieverRun,
  ): Promise<DocumentInterface[]> {
    return this.#find(question, manager ? { callbacks: manager.getChild() } : {});
  }
}
