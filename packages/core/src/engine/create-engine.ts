import {
  checkFields,
  type Defined,
  type FieldRule,
  type FieldRules,
  FUNCTION,
  oneOf,
  resolveOptions,
  SWITCH,
  UNIT,
  whole,
} from "../errors/field-rules.js";
import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import type { Learner } from "../learners/learner.js";
import { oar } from "../learners/oar/oar.js";
import { EDIT_POLICIES, type ShownItem } from "../ledger/events.js";
import { loopReducer } from "../ledger/reducer.js";
import { circuitBreakers } from "../resilience/circuit-breaker.js";
import { withCircuitBreaker, within, withTimeouts } from "../resilience/resilient-store.js";
import { platformTimer } from "../resilience/timeout.js";
import type { DamagedState } from "../store/damaged.js";
import type { Store } from "../store/store.js";
import { assertName } from "../store/validate.js";
import { aliasesIn, COUNT, DEFAULT_NAME, LEARNER, NAME, namesIn } from "./check.js";
import { openEpisode } from "./episodes/find-episode.js";
import { createEpisodeLifecycle } from "./episodes/lifecycle.js";
import { OpenEpisodes } from "./episodes/open-episodes.js";
import type { EngineOptions } from "./options.js";
import { assertExposure, createOutcomes } from "./outcomes.js";
import { type EngineCounters, type EngineParts, withParts } from "./parts.js";
import { createRanker } from "./rank.js";
import { createRecorder } from "./recorder.js";
import { StateReader } from "./state-reader.js";
import { createTaskTracker } from "./task-tracker.js";
import type { Engine } from "./types.js";
import { writeLine } from "./write-line.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Defaults of {@link EngineOptions}; times in ms. */
export const ENGINE_DEFAULTS: Defined<
  Omit<EngineOptions, "store" | "learner" | "holdout" | "governance" | "clock" | "setTimer" | "createId" | "logger">
> = {
  enabled: true,
  onEdit: "discount",
  episodeTtl: HOUR,
  maxOpenEpisodes: 10_000,
  outcomeWindow: 30 * DAY,
  recordedCandidates: 50,
  memoryOff: 0,
  readTimeout: 50,
  writeTimeout: 10_000,
};

/**
 * 20 characters of base 36, which a ledger keeps eight times for each episode: the time, so that indexes grow at their end, and 62 random
 * bits.
 */
const shortId = () => {
  // Drawing takes a system call, so many numbers are drawn at once.
  if (drawn.length === 0) drawn = [...crypto.getRandomValues(new BigUint64Array(64))];
  return ((BigInt(Date.now()) << 62n) | ((drawn.pop() as bigint) >> 2n)).toString(36);
};

let drawn: bigint[] = [];

/** Loads parts that most processes never use. */
const onFirstUse = () => import("./on-first-use.js");

/** Namespaces that are read ahead at once. */
const AHEAD_AT_ONCE = 2;

/**
 * The loop in one object: rank candidates, record what was shown, learn from how the run ended.
 *
 * The engine owns its store: `close()` closes it. Maintenance (verify, replay, revoke, forget …) is functions of
 * `@qavr/core/maintenance` on an engine.
 *
 * @throws INVALID_ARGUMENT for an option that is unknown, or outside its range
 */
export function createEngine(options: EngineOptions): Engine {
  const settings = resolveOptions("createEngine", options, ENGINE_DEFAULTS, ENGINE_RULES, ["store"]);
  const { enabled, onEdit, outcomeWindow, recordedCandidates, holdout, memoryOff, maxOpenEpisodes } = settings;
  const { governance, setTimer = platformTimer, learner = oar() as Learner } = settings;
  const now = checkedClock(options.clock ?? Date.now);
  const createId = checkedIds(options.createId ?? shortId);
  const log: EngineParts["log"] = (level, message, fields) => writeLine(options.logger, level, message, () => fields);
  const tasks = createTaskTracker();
  const reduce = loopReducer(learner, governance, { isLive: true });
  const counters: EngineCounters = { degraded: 0, lost: 0 };
  const timeouts = { timeout: settings.writeTimeout, setTimer };
  const heal: Heal = async (namespace, damaged) => (await onFirstUse()).healStates(parts, namespace, damaged);
  const store = announcing(withTimeouts(options.store, timeouts), heal, (namespace) => readAhead(namespace));
  const queue = options.store.outbox?.({
    store,
    reduce,
    within: (name, call) => within(name, timeouts)(call),
    now,
    log,
  });
  const reading = circuitBreakers(options.store);
  const scoringReads = withCircuitBreaker(options.store, {
    timeout: settings.readTimeout,
    setTimer,
    breakers: reading,
    now,
    onChange: (isOpen, cause) => logCircuit(log, isOpen, cause),
  });
  const scoringStates = new StateReader(scoringReads, learner, (namespace, damaged) => {
    if (!closing) void tasks.track(heal(namespace, damaged));
  });
  let closing = false;
  let ahead = 0;
  /** Best effort: it gives way to rankings, whose timeout and circuit breaker it shares, and to closing. */
  const readAhead = (namespace: string): void => {
    if (closing || reading.of(namespace).isOpen || ahead >= AHEAD_AT_ONCE) return;
    ahead += 1;
    const done = (): void => {
      ahead -= 1;
    };
    tasks.track(scoringStates.readAhead(namespace)).then(done, done);
  };
  const open = new OpenEpisodes({ limit: maxOpenEpisodes, ttl: settings.episodeTtl });
  const parts: EngineParts = {
    store,
    learner,
    governance,
    enabled,
    states: new StateReader(store, learner, async (_, damaged) => (await onFirstUse()).refuseDamaged(damaged)),
    scoringStates,
    queue,
    open,
    recorder: createRecorder({ store, queue, reduce, onEdit, recordedCandidates, now, createId }),
    tasks,
    onEdit,
    counters,
    holdout,
    memoryOff,
    outcomeWindow,
    now,
    createId,
    log,
  };
  const ranker = createRanker(parts);
  const episodes = createEpisodeLifecycle(parts);
  const outcomes = createOutcomes(parts, episodes);

  const engine: Engine = {
    learner,
    enabled,
    fetchSize: (request) => ranker.fetchSize(request),
    rank(request) {
      episodes.enforceLimit(maxOpenEpisodes);
      return ranker.rank(request);
    },

    open(openOptions = {}) {
      checkFields("open", openOptions, { namespace: NAME, aliases: true, lastHandle: COUNT });
      const { namespace = DEFAULT_NAME, lastHandle = 0 } = openOptions;
      const aliases = aliasesIn(openOptions.aliases ?? []);
      if (!enabled) return "";
      const episode = open.create(createId(), namespace, now());
      episode.lastHandle = lastHandle;
      open.addAliases(episode, aliases);
      episodes.enforceLimit(maxOpenEpisodes);
      return episode.id;
    },

    alias(id, aliases) {
      const names = aliasesIn(aliases);
      if (enabled) open.addAliases(openEpisode(open, undefined, id), names);
    },

    narrow(id, exposure, ids) {
      const kept = new Set(namesIn(ids, "ids"));
      assertExposure(exposure);
      if (!enabled) return;
      const episode = openEpisode(open, undefined, id);
      const place = exposure - (episode.earlier?.exposures.length ?? 0);
      const target = episode.exposures[place];
      // A recorded exposure no longer changes.
      if (!target || place < episode.recordedExposures) return;
      const isKept = (item: ShownItem): boolean => kept.has(target.ids[item.candidate] as string);
      target.dropped = [...target.dropped, ...target.shown.filter((item) => !isKept(item))];
      target.shown = target.shown.filter(isKept);
    },

    end: (episode, outcome, endOptions) => tasks.track(outcomes.end(episode, outcome, endOptions)),
    report: (reference, outcome, reportOptions) => tasks.track(outcomes.report(reference, outcome, reportOptions)),
    suspend: (episode, suspendOptions) => tasks.track(episodes.suspend(episode, suspendOptions)),
    // Tracked, so that flush() also waits for resumed runs.
    resume: (alias, resumeOptions) =>
      tasks.track(onFirstUse().then((lazy) => lazy.resumeEpisode(parts, alias, resumeOptions))),
    // Loaded by their first use: most processes rank and report only.
    explain: async (reference, options) => (await onFirstUse()).explain(parts, reference, options),
    status: async (options) => (await onFirstUse()).statusOf(parts, options),
    memories: async (options) => (await onFirstUse()).readMemories(parts, options),
    history: async (options) => (await onFirstUse()).readHistory(parts, options),
    health: () => ({
      readCircuitOpen: reading.isOpen(),
      degradedRankings: counters.degraded,
      openEpisodes: open.size,
      lostEpisodes: counters.lost,
      ...(queue?.health() ?? { writeCircuitOpen: false, queued: 0, rejected: 0 }),
    }),

    async flush() {
      await episodes.sweep();
      await tasks.settled();
      await queue?.drain();
    },

    async close() {
      closing = true;
      await tasks.settled();
      await episodes.abandonAll();
      await queue?.drain();
      await store.close();
    },
  };
  return withParts(engine, parts);
}

/** A clock whose readings are checked, since they are written into the ledger. */
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

/** Builds damaged states again; false when `damaged` names none, or that fails. */
type Heal = (namespace: string, damaged: Partial<DamagedState>) => Promise<boolean>;

/** The store with a callback after each commit. A commit that meets a damaged state is repeated once that is built again. */
function announcing(store: Store, heal: Heal, onCommitted: (namespace: string) => void): Store {
  return {
    ...store,
    async commit(namespace, entries, reduce) {
      const receipts = await store.commit(namespace, entries, reduce).catch(async (error: unknown) => {
        if (!QavrError.isInstance(error, "STORE_CORRUPT") || !(await heal(namespace, error.details))) throw error;
        return store.commit(namespace, entries, reduce);
      });
      onCommitted(namespace);
      return receipts;
    },
  };
}

function logCircuit(log: EngineParts["log"], isOpen: boolean, cause: QavrError | undefined): void {
  if (isOpen) {
    log("warn", "The store keeps failing: it is asked again every few seconds. Rankings do without it.", {
      code: "STORE_CIRCUIT_OPEN",
      reason: cause?.code,
    });
  } else log("info", "The store answers again: rankings learn again.", { code: "STORE_RECOVERED" });
}

const DURATION: FieldRule = [(value) => typeof value === "number" && value > 0, "a positive number of milliseconds"];
const SHARE: FieldRule = [UNIT[0], "a share in [0, 1]"];

export const ENGINE_RULES: FieldRules<EngineOptions> = {
  store: [hasMethod("commit"), "a Store, such as memoryStore() or sqliteStore(path)"],
  logger: [(value) => typeof value === "object" && value !== null, "an object with methods such as warn and error"],
  clock: FUNCTION,
  setTimer: FUNCTION,
  createId: FUNCTION,
  episodeTtl: DURATION,
  outcomeWindow: DURATION,
  readTimeout: DURATION,
  writeTimeout: DURATION,
  maxOpenEpisodes: whole(1),
  recordedCandidates: whole(1),
  holdout: SHARE,
  memoryOff: SHARE,
  governance: [hasMethod("rulesFor"), "made by governance() of @qavr/core/governance"],
  enabled: SWITCH,
  learner: LEARNER,
  onEdit: oneOf(...EDIT_POLICIES),
};

function hasMethod(name: string): (value: unknown) => boolean {
  return (value) => typeof (value as Record<string, unknown> | null | undefined)?.[name] === "function";
}
