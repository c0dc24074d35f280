import { assertKnownFields, type FieldsOf } from "@qavr/core/adapter";
import type { EngineFields, QavrOptions } from "./memory-options.js";

/** Options that an engine brings, and that would do nothing beside one that is given. */
const OF_ENGINE = [
  "store",
  "learner",
  "onEdit",
  "episodeTtl",
  "outcomeWindow",
  "recordedCandidates",
  "holdout",
  "trust",
  "sourceCaps",
  "readDeadline",
  "writeDeadline",
  "spool",
  "clock",
  "setTimer",
  "createId",
] as const;

const ENGINE_FIELDS: FieldsOf<EngineFields> = {
  store: true,
  engine: true,
  enabled: true,
  namespace: true,
  context: true,
  fetchK: true,
  onError: true,
  logger: true,
  learner: true,
  onEdit: true,
  episodeTtl: true,
  maxOpenEpisodes: true,
  outcomeWindow: true,
  recordedCandidates: true,
  holdout: true,
  trust: true,
  sourceCaps: true,
  readDeadline: true,
  writeDeadline: true,
  spool: true,
  clock: true,
  setTimer: true,
  createId: true,
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
  return OF_ENGINE.find((name) => options[name] !== undefined);
}
