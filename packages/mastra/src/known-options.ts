import type { EngineOptions } from "@qavr/core";
import { assertKnownFields, ENGINE_OPTIONS, type FieldsOf } from "@qavr/core/adapter";
import type { EngineFields, QavrOptions } from "./memory-options.js";

/** Options that say something beside an engine that is given; the others would do nothing. */
const BESIDE_ENGINE: readonly string[] = ["enabled", "logger", "maxOpenEpisodes"] satisfies (keyof EngineOptions)[];

const ENGINE_FIELDS: FieldsOf<EngineFields> = {
  ...ENGINE_OPTIONS,
  engine: true,
  namespace: true,
  context: true,
  fetchK: true,
  onError: true,
};

const OPTIONS: FieldsOf<QavrOptions> = {
  evaluate: true,
  outcomes: true,
  scores: true,
  feedback: true,
  reportTool: true,
  echoes: true,
  rememberTurns: true,
  collections: true,
  messagesCollection: true,
  ignore: true,
  ...ENGINE_FIELDS,
};

/** Refuses a misspelt option of a memory. @throws INVALID_ARGUMENT */
export function assertKnownOptions(options: object): void {
  assertKnownFields(options, "qavr has no option", OPTIONS);
}

/** Refuses a misspelt option of a vector store, and one that only a memory has. @throws INVALID_ARGUMENT */
export function assertKnownVectorOptions(options: object): void {
  assertKnownFields(options, "qavrVector() has no option", {
    memory: true,
    collection: true,
    annotate: true,
    ...ENGINE_FIELDS,
  });
}

/** The first option that is given and would do nothing beside a given engine. */
export function overruledByEngine(options: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(ENGINE_OPTIONS).find((name) => options[name] !== undefined && !BESIDE_ENGINE.includes(name));
}
