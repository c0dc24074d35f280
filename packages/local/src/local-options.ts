import { type Defined, type FieldRule, resolveOptions } from "@qavr/core/store";

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
}

const DEFAULTS: Defined<Pick<LocalMemoriesOptions, "name">> = { name: "memories" };

const NAME = /^[\w-]{1,64}$/;

const RULES: Readonly<Record<keyof LocalMemoriesOptions, FieldRule>> = {
  path: [
    (value) => value === undefined || (typeof value === "string" && value.trim() !== "" && !value.includes("\0")),
    "the name of a file, or :memory:",
  ],
  name: [
    (value) => typeof value === "string" && NAME.test(value),
    "1 to 64 letters, digits, - or _ (with path it may belong to any file)",
  ],
};

/** @throws INVALID_ARGUMENT for an unknown option, or one outside its range */
export function resolveLocalOptions(given: LocalMemoriesOptions): Defined<LocalMemoriesOptions> {
  const { path, name } = resolveOptions("localMemories()", given, DEFAULTS, RULES);
  return { name, path: path ?? `.qavr/${name}.db` };
}
