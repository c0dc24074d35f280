import { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import { Document, type DocumentInterface } from "@langchain/core/documents";
import { type BaseExampleSelector, SemanticSimilarityExampleSelector } from "@langchain/core/example_selectors";
import type { BaseRetrieverInput } from "@langchain/core/retrievers";
import type { VectorStoreInterface, VectorStoreRetrieverInterface } from "@langchain/core/vectorstores";
import { QavrError } from "@qavr/core";
import { checkFields, type FieldRule, type FieldRules } from "@qavr/core/adapter";
import { hashedUuid } from "./document-ids.js";
import { type MemoryHandle, partsOf } from "./memory-parts.js";
import { QavrRetriever, type RetrieverOptions } from "./qavr-retriever.js";
import type { Base } from "./ranking/host.js";
import { RETRIEVER_FIELDS } from "./ranking/ranking-options.js";

/** Options of an example selector: those of a retriever, and the keys that LangChain's own selector by similarity has. */
export interface ExampleSelectorOptions<Filter = unknown>
  extends Omit<RetrieverOptions<Filter>, keyof BaseRetrieverInput> {
  /** The prompt's values that are compared with the examples, and the keys by which `addExample` files an example. @default all */
  readonly inputKeys?: readonly string[] | undefined;
  /** The keys that a selected example has. @default all of its document's metadata */
  readonly exampleKeys?: readonly string[] | undefined;
}

const KEYS: FieldRule = [
  (value) => Array.isArray(value) && value.every((key) => typeof key === "string"),
  "a list of keys",
];
const OPTIONS: FieldRules<Pick<ExampleSelectorOptions, "inputKeys" | "exampleKeys">> = {
  inputKeys: KEYS,
  exampleKeys: KEYS,
};

/**
 * LangChain's own selector by similarity, with a retriever of this memory in place of the store's.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED; UNSUPPORTED where a prompt's run cannot be found
 */
export function createExampleSelector(
  memory: MemoryHandle,
  base: Base,
  { inputKeys, exampleKeys, ...options }: ExampleSelectorOptions = {},
): BaseExampleSelector {
  checkFields("An example selector", { ...options, inputKeys, exampleKeys }, { ...OPTIONS, ...RETRIEVER_FIELDS });
  const { prompts, kit } = partsOf(memory);
  const retriever = new QavrRetriever({ ...options, memory, base });
  if (kit.engine.enabled) prompts.follow();
  const examples: Pick<VectorStoreRetrieverInterface, "invoke" | "addDocuments"> = {
    invoke(text) {
      const prompt = prompts.current();
      // Without a prompt's run this is any retrieval: LangGraph's context has the run, or it is recorded without an outcome.
      if (!prompt) return retriever.invoke(text);
      const handlers = [memory.handler];
      const { id, metadata } = prompt;
      const manager = new CallbackManagerForRetrieverRun(id, handlers, handlers, [], [], {}, { ...metadata });
      return retriever._getRelevantDocuments(text, manager);
    },
    addDocuments: (documents) => addExamples(retriever.base, documents),
  };
  return new SemanticSimilarityExampleSelector({
    vectorStoreRetriever: examples as VectorStoreRetrieverInterface,
    ...(inputKeys ? { inputKeys: [...inputKeys] } : {}),
    ...(exampleKeys ? { exampleKeys: [...exampleKeys] } : {}),
  });
}

/**
 * Adds examples under ids of their own: without one, two examples of the same input would share their evidence, and an example that
 * is added again after a restart would lose it.
 */
async function addExamples(
  base: object,
  documents: readonly DocumentInterface[],
): ReturnType<VectorStoreInterface["addDocuments"]> {
  const target = base as Partial<VectorStoreInterface>;
  if (!target.addDocuments) {
    throw new QavrError(
      "UNSUPPORTED",
      "This selector searches in something that takes no examples. Add them to its store.",
    );
  }
  const named = documents.map((document) => new Document({ ...document, id: exampleId(document.metadata) }));
  return target.addDocuments(named, { ids: named.map(({ id }) => id) });
}

/** The same for the same example, whatever the order of its keys. */
function exampleId(example: Readonly<Record<string, unknown>>): string {
  return hashedUuid(Object.entries(example).sort(([a], [b]) => (a < b ? -1 : 1)));
}
