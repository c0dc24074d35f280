import type { Logger } from "@qavr/core";
import { type Defined, type FieldRule, resolveOptions } from "@qavr/core/store";
import { type Embedder, isEmbedder } from "./embedder.js";

/** Place and name of a collection. */
export interface LocalMemoriesOptions {
  /** Its file, relative to the working folder; missing folders are created. `:memory:` keeps it in this process. @default `.qavr/<name>.db` */
  readonly path?: string | undefined;
  /**
   * Name of the collection in the ledger: letters, digits, `-` and `_`, at most 64. Evidence is kept under it, so leave it as it is once
   * memories have been shown.
   * @default "memories"
   */
  readonly name?: string | undefined;
  /**
   * Embeds texts for a search by meaning beside the one by words: a function, `Embeddings` of LangChain, or an embedding model of the AI
   * SDK. Always the same model: another one is refused until {@link LocalMemories.reembed} was called.
   * @default none: searches by words
   */
  readonly embed?: Embedder | undefined;
  /** Gets a line when the embedding model fails. @default the first failure is a process warning */
  readonly logger?: Logger | undefined;
}

const DEFAULTS: Defined<Pick<LocalMemoriesOptions, "name">> = { name: "memories" };

const NAME = /^[\w-]{1,64}$/;

const RULES: Readonly<Record<keyof LocalMemoriesOptions, FieldRule>> = {
  path: [
    (value) => typeof value === "string" && value.trim() !== "" && !value.includes("\0"),
    "the name of a file, or :memory:",
  ],
  name: [(value) => typeof value === "string" && NAME.test(value), "1 to 64 letters, digits, - or _"],
  embed: [isEmbedder, "a function, Embeddings of LangChain, or an embedding model of the AI SDK"],
  logger: [(value) => typeof value === "object" && value !== null, "a logger"],
};

/** @throws INVALID_ARGUMENT for an unknown option, or one outside its range */
export function resolveLocalOptions(
  given: LocalMemoriesOptions,
): Defined<Pick<LocalMemoriesOptions, "path" | "name">> & Pick<LocalMemoriesOptions, "embed" | "logger"> {
  const { path, name, ...rest } = resolveOptions("localMemories()", given, DEFAULTS, RULES);
  return { ...rest, name, path: path ?? `.qavr/${name}.db` };
}
