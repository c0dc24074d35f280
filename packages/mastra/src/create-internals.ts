import { createEngine, ENGINE_DEFAULTS } from "@qavr/core";
import { createLog, recentMap, UNHEARD_LOG_CODES } from "@qavr/core/adapter";
import { MESSAGES } from "./collections.js";
import { defaultStore } from "./default-store.js";
import { finishOutcomes } from "./finish-reasons.js";
import type { Internals } from "./internals.js";
import { assertQavrOptions, isEnabled, type QavrOptions } from "./memory-options.js";
import { Runs } from "./runs.js";
import { untoldWarning } from "./wiring-warnings.js";

/** Checks the options and builds what the parts of a memory share. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function createInternals(options: QavrOptions): Internals {
  assertQavrOptions(options);
  const { store, logger, outcomes, onError, maxOpenEpisodes = ENGINE_DEFAULTS.maxOpenEpisodes } = options;
  const enabled = isEnabled(options);
  const engine = options.engine ?? createEngine({ ...options, enabled, store: defaultStore(store) });
  return {
    engine,
    // An engine that is shared stays on for those who share it.
    enabled: enabled && engine.enabled,
    options,
    messages: options.messagesCollection ?? MESSAGES,
    runs: new Runs(maxOpenEpisodes),
    namespaces: recentMap(4 * maxOpenEpisodes),
    unshown: recentMap(4 * maxOpenEpisodes),
    log: createLog(logger, [...UNHEARD_LOG_CODES, "SCORE_IGNORED"]),
    outcomes: finishOutcomes(outcomes),
    reporting: new Set(),
    ignoredSources: new Set(),
    warnOfUntold: untoldWarning(logger),
    throws: onError === "throw",
  };
}
