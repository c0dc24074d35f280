import { createEngine, ENGINE_DEFAULTS } from "@qavr/core";
import { createLog } from "@qavr/core/adapter";
import { defaultStore } from "./default-store.js";
import { finishOutcomes } from "./finish-reasons.js";
import type { Internals } from "./internals.js";
import { assertQavrOptions, isEnabled, type QavrOptions } from "./memory-options.js";
import { Runs } from "./runs.js";

/** Checks the options and builds what the parts of a memory share. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function createInternals(options: QavrOptions): Internals {
  assertQavrOptions(options);
  const { engine, store, logger, maxOpenEpisodes, onError } = options;
  const {
    onEdit,
    learner,
    episodeTtl,
    outcomeWindow,
    recordedCandidates,
    holdout,
    trust,
    sourceCaps,
    clock,
    createId,
  } = options;
  return {
    engine:
      engine ??
      createEngine({
        ...Object.fromEntries(
          Object.entries({
            onEdit,
            learner,
            episodeTtl,
            outcomeWindow,
            recordedCandidates,
            holdout,
            trust,
            sourceCaps,
            clock,
            createId,
            logger,
            maxOpenEpisodes,
          }).filter(([, value]) => value !== undefined),
        ),
        enabled: isEnabled(options),
        store: defaultStore(store),
      }),
    options,
    runs: new Runs(maxOpenEpisodes ?? ENGINE_DEFAULTS.maxOpenEpisodes),
    log: createLog(logger),
    outcomes: finishOutcomes(options.outcomes),
    reporting: new Set(),
    throws: onError === "throw",
  };
}
