import { createLog, UNHEARD_LOG_CODES } from "@qavr/core/adapter";
import type { Internals } from "./internals.js";
import { assertQavrOptions, isEnabled, type QavrOptions } from "./memory-options.js";
import { MESSAGES } from "./recall/collections.js";
import { finishOutcomes } from "./runs/finish-reasons.js";
import { shareEngine } from "./shared-engines.js";

/** Checks the options and builds what the parts of a memory share. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function createInternals(options: QavrOptions): Internals {
  assertQavrOptions(options);
  const { logger, onError } = options;
  const outcomes = finishOutcomes(options.outcomes);
  const shared = shareEngine(options);
  return {
    ...shared,
    // An engine that is shared stays on for those who share it.
    enabled: isEnabled(options) && shared.engine.enabled,
    options,
    messages: options.messagesCollection ?? MESSAGES,
    log: createLog(logger, [...UNHEARD_LOG_CODES, "SCORE_IGNORED"]),
    outcomes,
    reporting: new Set(),
    throws: onError === "throw",
  };
}
