import { definedOnly } from "../errors/defined-only.js";
import { illegalOption } from "../errors/illegal-option.js";
import { isThenable } from "../errors/is-thenable.js";
import { assertKnownFields, checkOptions } from "../errors/known-fields.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import { oar } from "../learners/oar/oar.js";
import { EDIT_POLICIES } from "../ledger/events.js";
import { ledgerReducer } from "../ledger/reducer.js";
import type { Store } from "../store/store.js";
import { assertName } from "../store/validate.js";
import { checkCount, DEFAULT_NAME, isLearner, namesIn } from "./check.js";
import { CircuitBreaker } from "./circuit-breaker.js";
import { createCompactor } from "./compact.js";
import type { EngineContext, EngineCounters } from "./context.js";
import { checkedTimer, platformTimer } from "./deadline.js";
import { ENGINE_OPTIONS } from "./engine-options.js";
import { impatientReads, patientSpool, patientStore } from "./guarded-store.js";
import { createInspector } from "./inspect.js";
import { createIntegrity } from "./integrity.js";
import { createMaintainer } from "./maintain.js";
import { replayPolicy } from "./off-policy.js";
import { type OpenEpisode, OpenEpisodes } from "./open-episodes.js";
import { createOutcomeSpool } from "./outcome-spool.js";
import { assertExposure, createOutcomes, loseEpisode } from "./outcomes.js";
import { createRanker, openEpisode } from "./rank.js";
import { createRebuilder } from "./rebuild.js";
import { createRecorder } from "./recorder.js";
import { StateReader } from "./state-reader.js";
import type { Engine, EngineOptions } from "./types.js";
import { createWorkUnderWay } from "./work-under-way.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What an engine goes by: options with defaults filled in. */
type EngineSettings = {
  readonly [Option in
    | "enabled"
    | "onEdit"
    | "episodeTtl"
    | "maxOpenEpisodes"
    | "outcomeWindow"
    | "recordedCandidates"
    | "holdout"
    | "trust"
    | "readDeadline"
    | "writeDeadline"]: NonNullable<EngineOptions[Option]>;
} & Pick<EngineOptions, "sourceCaps">;

/** What an engine does when nobody says otherwise. */
export const ENGINE_DEFAULTS: EngineSettings = {
  enabled: true,
  onEdit: "discount",
  episodeTtl: HOUR,
  maxOpenEpisodes: 10_000,
  outcomeWindow: 30 * DAY,
  recordedCandidates: 50,
  holdout: 0,
  trust: "off",
  readDeadline: 50,
  writeDeadline: 10_000,
};

/** Namespaces that are read ahead at once. */
const AHEAD_AT_ONCE = 2;

/** Open episodes beyond the limit that may wait to be recorded; what comes on top is let go. */
const OVERFLOW = 1_000;

/**
 * The loop in one object: rank candidates, note what was shown, learn from how the run ended.
 *
 * The engine owns its store and its spool: `close()` closes them.
 *
 * @throws INVALID_ARGUMENT for an option that is unknown, or outside its range
 */
export function createEngine(options: EngineOptions): Engine {
  const settings = resolve(options);
  const { logger } = options;
  const now = checkedClock(options.clock ?? Date.now);
  const createId = checkedIds(options.createId ?? (() => crypto.randomUUID()));
  const setTimer = options.setTimer ? checkedTimer(options.setTimer) : platformTimer;
  const learner: Learner = options.learner ?? (oar() as Learner);
  const reduce = ledgerReducer(learner);
  const { enabled, onEdit, outcomeWindow, recordedCandidates } = settings;
  const log: EngineContext["log"] = (level, message, fields) => {
    try {
      const written: unknown = logger?.[level]?.(message, fields);
      // One that writes at its own pace fails at its own pace, where nobody would catch it.
      if (isThenable(written)) written.then(undefined, () => {});
    } catch {
      // A diagnosis that cannot be written must not cost the caller its ranking or its acknowledgement.
    }
  };
  const underWay = createWorkUnderWay();
  const { track } = underWay;
  const patience = { deadline: settings.writeDeadline, setTimer };
  const store = announcing(patientStore(options.store, patience), (namespace) => readAhead(namespace));
  const reading = new CircuitBreaker();
  const writing = new CircuitBreaker();
  const counters: EngineCounters = { degraded: 0, lost: 0, spooled: 0, rejected: 0 };
  const scoringReads = impatientReads(options.store, {
    deadline: settings.readDeadline,
    setTimer,
    breaker: reading,
    now,
    onChange: (suspended, cause) => reportSuspension(log, suspended, cause),
  });
  const scoringStates = new StateReader(scoringReads, learner);
  let closing = false;
  let ahead = 0;
  /** Best effort: it gives way to rankings, whose deadline and circuit breaker it shares, and to the end. */
  const readAhead = (namespace: string): void => {
    if (closing || reading.isOpen || ahead >= AHEAD_AT_ONCE) return;
    ahead += 1;
    const done = (): void => {
      ahead -= 1;
    };
    track(scoringStates.readAhead(namespace)).then(done, done);
  };
  const spool =
    options.spool &&
    createOutcomeSpool({
      store,
      spool: patientSpool(options.spool, patience),
      breaker: writing,
      reduce,
      now,
      log,
      counters,
    });
  const context: EngineContext = {
    store,
    learner,
    enabled,
    reduce,
    states: new StateReader(store, learner),
    scoringStates,
    spool,
    open: new OpenEpisodes({ limit: settings.maxOpenEpisodes, ttl: settings.episodeTtl }),
    recorder: createRecorder({ store, spool, reduce, onEdit, recordedCandidates, now, createId }),
    onEdit,
    counters,
    holdout: settings.holdout,
    trust: settings.trust,
    sourceCaps: settings.sourceCaps,
    outcomeWindow,
    now,
    createId,
    log,
  };
  const { open } = context;
  const ranker = createRanker(context);
  const outcomes = createOutcomes(context);
  const inspector = createInspector(context);
  const maintainer = createMaintainer(context);
  const rebuilder = createRebuilder(context);
  const integrity = createIntegrity(context, rebuilder);
  const compact = createCompactor(context);
  let bounding = false;
  /** A process that only opens and reads must not collect runs for ever: the limit holds without a write to hang the sweep on. */
  const boundOpenEpisodes = (): void => {
    if (open.size <= settings.maxOpenEpisodes) return;
    // A store that is slower than the runs, or does not answer, must not decide how much memory they take.
    const excess = open.size - settings.maxOpenEpisodes - OVERFLOW;
    for (const episode of open.oldest(excess)) loseEpisode(context, episode, tooManyOpen(settings.maxOpenEpisodes));
    if (bounding) return;
    bounding = true;
    const sweepAll = async (): Promise<void> => {
      let before: OpenEpisode | undefined;
      let [first] = open.overdue(now());
      // What a sweep has left where it was is left to the next call: without end it would keep the event loop from everybody.
      while (first && first !== before) {
        await outcomes.sweep();
        before = first;
        [first] = open.overdue(now());
      }
      bounding = false;
    };
    void track(sweepAll());
  };

  return {
    learner,
    enabled,
    fetchSize: (request) => ranker.fetchSize(request),
    rank(request) {
      boundOpenEpisodes();
      return ranker.rank(request);
    },

    open(openOptions = {}) {
      checkOptions(openOptions, "open", { namespace: true, aliases: true, lastHandle: true });
      const { namespace = DEFAULT_NAME, lastHandle = 0 } = openOptions;
      assertName(namespace, "namespace");
      const aliases = namesIn(openOptions.aliases === undefined ? [] : openOptions.aliases, "aliases");
      checkCount(lastHandle, "lastHandle");
      if (!enabled) return "";
      const episode = open.create(createId(), namespace, now());
      episode.lastHandle = lastHandle;
      open.addAliases(episode, aliases);
      boundOpenEpisodes();
      return episode.id;
    },

    alias(id, aliases) {
      const names = namesIn(aliases, "aliases");
      if (enabled) open.addAliases(openEpisode(context, undefined, id), names);
    },

    narrow(id, exposure, ids) {
      const kept = new Set(namesIn(ids, "ids"));
      assertExposure(exposure);
      if (!enabled) return;
      const episode = openEpisode(context, undefined, id);
      const place = exposure - (episode.earlier?.exposures.length ?? 0);
      const target = episode.exposures[place];
      // What is recorded already stands.
      if (!target || place < episode.recordedExposures) return;
      target.shown = target.shown.filter((item) => kept.has(target.ids[item.candidate] as string));
    },

    end: (episode, outcome, endOptions) => track(outcomes.end(episode, outcome, endOptions)),
    report: (reference, outcome, reportOptions) => track(outcomes.report(reference, outcome, reportOptions)),
    park: (episode, parkOptions) => track(outcomes.park(episode, parkOptions)),
    // Whoever flushes then wants what the resumed run ends with, too.
    resume: (alias, resumeOptions) => track(outcomes.resume(alias, resumeOptions)),
    explain: (reference, explainOptions) => inspector.explain(reference, explainOptions),
    status: (statusOptions) => inspector.status(statusOptions),
    health: () => ({
      readsSuspended: reading.isOpen,
      writesSuspended: writing.isOpen,
      degradedRankings: counters.degraded,
      openEpisodes: open.size,
      lostEpisodes: counters.lost,
      spooled: counters.spooled,
      rejected: counters.rejected,
    }),
    forget: (forgetOptions) => track(maintainer.forget(forgetOptions, underWay.begun())),
    importState: (state) => track(maintainer.importState(state)),
    exportState: (exportOptions) => maintainer.exportState(exportOptions),
    replay: (async (
      replayOptions: {
        readonly namespace?: string | undefined;
        readonly write?: boolean | undefined;
        readonly learner?: Learner;
      } = {},
    ) => {
      checkOptions(replayOptions, "replay", { namespace: true, write: true, learner: true });
      return replayOptions.learner === undefined
        ? rebuilder.replay(replayOptions)
        : replayPolicy(store, { ...replayOptions, learner: replayOptions.learner });
    }) as Engine["replay"],
    revoke: (revokeOptions) => track(rebuilder.revoke(revokeOptions)),
    compact: (compactOptions) => track(compact(compactOptions)),
    verify: (verifyOptions) => integrity.verify(verifyOptions),
    repair: (repairOptions) => track(integrity.repair(repairOptions)),

    async flush() {
      await outcomes.sweep();
      await underWay.settled();
      await spool?.drain();
    },

    async close() {
      closing = true;
      await underWay.settled();
      await outcomes.abandonAll();
      await spool?.drain();
      try {
        await store.close();
      } finally {
        await spool?.close();
      }
    },
  };
}

/** A clock that says when it does not tell the time: what it gives is written into the ledger. */
function checkedClock(clock: () => number): () => number {
  return () => {
    const now = clock();
    if (Number.isFinite(now)) return now;
    throw illegalOption("clock", "createEngine: clock must give Unix ms, as Date.now does", now);
  };
}

function checkedIds(createId: () => string): () => string {
  return () => {
    const id = createId();
    assertName(id, "id that createId gives");
    return id;
  };
}

/** The store, and whoever wants to know of each commit that it has taken. */
function announcing(store: Store, onCommitted: (namespace: string) => void): Store {
  return {
    ...store,
    async commit(namespace, entries, reduce) {
      const receipts = await store.commit(namespace, entries, reduce);
      onCommitted(namespace);
      return receipts;
    },
  };
}

function reportSuspension(log: EngineContext["log"], suspended: boolean, cause: QavrError | undefined): void {
  if (suspended) {
    log("warn", "The store keeps failing: rankings do without it, and it is asked again every few seconds.", {
      code: "STORE_SUSPENDED",
      reason: cause?.code,
    });
  } else log("info", "The store answers again: rankings learn again.", { code: "STORE_RECOVERED" });
}

function tooManyOpen(limit: number): QavrError {
  return new QavrError("LIMIT_EXCEEDED", `More than ${limit} episodes are open, and the store cannot keep up.`, {
    details: { limit },
  });
}

/** Options with defaults filled in and ranges checked. */
function resolve(options: EngineOptions): EngineSettings {
  const refuse = (option: string, range: string, received: unknown): never => {
    throw illegalOption(option, `createEngine: ${option} must be ${range}`, received);
  };
  if (typeof options?.store?.commit !== "function") {
    refuse("store", "a Store, such as memoryStore() or sqliteStore(path)", options?.store);
  }
  assertKnownFields(options, "createEngine() has no option", ENGINE_OPTIONS);
  if (options.spool !== undefined && typeof options.spool?.append !== "function") {
    refuse("spool", "a Spool, such as sqliteSpool(path)", options.spool);
  }
  if (options.logger !== undefined && (typeof options.logger !== "object" || options.logger === null)) {
    refuse("logger", "an object with methods such as warn and error", typeof options.logger);
  }
  for (const option of ["clock", "setTimer", "createId"] as const) {
    if (options[option] !== undefined && typeof options[option] !== "function") {
      refuse(option, "a function", options[option]);
    }
  }
  const settings: EngineSettings = { ...ENGINE_DEFAULTS, ...definedOnly(options, ENGINE_OPTIONS) };
  for (const option of ["episodeTtl", "outcomeWindow", "readDeadline", "writeDeadline"] as const) {
    if (!(typeof settings[option] === "number" && settings[option] > 0))
      refuse(option, "a positive number of milliseconds", settings[option]);
  }
  for (const option of ["maxOpenEpisodes", "recordedCandidates"] as const) {
    if (!(Number.isInteger(settings[option]) && settings[option] >= 1)) {
      refuse(option, "a whole number of at least 1", settings[option]);
    }
  }
  if (!(typeof settings.holdout === "number" && settings.holdout >= 0 && settings.holdout <= 1)) {
    refuse("holdout", "a share in [0, 1]", settings.holdout);
  }
  if (settings.trust !== "off" && settings.trust !== "audited") refuse("trust", '"off" or "audited"', settings.trust);
  for (const part of ["weight", "window"] as const) {
    const caps = settings.sourceCaps;
    if (caps !== undefined && !(caps?.[part] > 0 && Number.isFinite(caps[part]))) {
      refuse(`sourceCaps.${part}`, "a positive, finite number", caps?.[part]);
    }
  }
  if (typeof settings.enabled !== "boolean") refuse("enabled", "true or false", settings.enabled);
  if (options.learner !== undefined && !isLearner(options.learner)) {
    refuse("learner", "a Learner, such as oar() or qavr()", options.learner);
  }
  if (!EDIT_POLICIES.includes(settings.onEdit)) refuse("onEdit", EDIT_POLICIES.join(", "), settings.onEdit);
  const { sourceCaps: caps } = settings;
  return caps ? { ...settings, sourceCaps: { weight: caps.weight, window: caps.window } } : settings;
}
