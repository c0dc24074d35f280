import type { FieldsOf } from "../errors/known-fields.js";
import type { EngineOptions } from "./types.js";

/** Every option of an engine. */
export const ENGINE_OPTIONS: FieldsOf<EngineOptions> = {
  store: true,
  learner: true,
  enabled: true,
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
  logger: true,
};

/** The option of every call that only needs to know where. */
export const ONLY_NAMESPACE: FieldsOf<{ readonly namespace?: string | undefined }> = { namespace: true };
