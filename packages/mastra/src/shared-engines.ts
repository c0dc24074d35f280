import { resolve } from "node:path";
import {
  createEngine,
  ENGINE_DEFAULTS,
  type Engine,
  type EngineOptions,
  type LogFields,
  type Logger,
  type Store,
} from "@qavr/core";
import {
  DEFAULT_STORE_PATH,
  ENGINE_OPTION_TABLE,
  type EngineSettings,
  isEnabled,
  type RecentMap,
  recentMap,
  storeInEnvironment,
  withMembers,
} from "@qavr/core/adapter";
import { defaultStore } from "./default-store.js";
import { type EngineFields, givenEngine } from "./learning-options.js";
import { warn } from "./log-codes.js";
import type { NotedStep } from "./runs/agent-run.js";
import { LaterVerdicts } from "./runs/later-verdicts.js";
import { Runs } from "./runs/runs.js";
import { Turns } from "./runs/turns.js";

/** The runs on an engine, of all memories. */
interface EngineRuns {
  readonly runs: Runs;
  readonly turns: Turns;
  readonly later: LaterVerdicts;
  /** Ids of the repeated questions that a recall left out, by episode. */
  readonly dropped: RecentMap<string, readonly string[]>;
  /** Ids of runs, and of their traces and episodes, that ended without a record: they were shown no memory, or are not to be learned from. */
  readonly unshown: RecentMap<string, true>;
  /** The finished tool calls of suspended runs, by the alias under which the run waits. */
  readonly calls: RecentMap<string, readonly NotedStep[]>;
  /** Sources of scores and feedback with a warning that they are ignored. */
  readonly ignoredSources: Set<string>;
  /** Wiring warnings that were given, by logger; by engine where there is no logger. */
  readonly warned: WeakMap<object, Set<string>>;
  /** True when vector stores, tools or skills share a memory on the engine, so that its runs also teach about those. */
  readonly vectors: { share: boolean };
}

/** An engine and the runs that use it. */
export interface SharedEngine extends EngineRuns {
  readonly engine: Engine;
  /** Keeps the engine in use until {@link SharedEngine.close}, or until all users are garbage: memories made for each call are never closed. */
  useFor(user: object): void;
  /** Closes the engine when it has no other user, else waits for everything under way. */
  close(): Promise<void>;
  /** True once this package has closed the engine; always false for a given engine. */
  isClosed(): boolean;
}

/** One engine of a ledger with its users. */
interface Shared {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly logger: RelayedLogger;
  readonly users: Set<WeakRef<object>>;
  /** False until its first user. */
  isUsed: boolean;
  isClosed: boolean;
}

/** The options of an engine, without store and logger. */
type Settings = Omit<EngineOptions, "store" | "logger">;

interface Registry {
  readonly byLocation: Map<string, Set<Shared>>;
  readonly byStore: WeakMap<Store, Set<Shared>>;
  readonly runs: WeakMap<Engine, EngineRuns>;
}

/** In the process and not in the module: two copies of this package (ESM and CJS) may be loaded. */
const REGISTRY: unique symbol = Symbol.for("qavr.mastra.engines") as never;

function registry(): Registry {
  const scope = globalThis as { [REGISTRY]?: Registry };
  scope[REGISTRY] ??= { byLocation: new Map(), byStore: new WeakMap(), runs: new WeakMap() };
  return scope[REGISTRY];
}

/** Drops users that are garbage. Holds no engine, which would otherwise outlive its last user. */
const departures = new FinalizationRegistry<{
  readonly lists: readonly Shared["users"][];
  readonly place: WeakRef<object>;
}>(({ lists, place }) => {
  for (const users of lists) users.delete(place);
});

/**
 * The engine of a ledger for one more user. The same ledger with the same options gives the same engine: Mastra calls a function that
 * makes a memory many times per run, and a run that begins with one of them ends with another.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function shareEngine(options: EngineFields): SharedEngine {
  const given = givenEngine(options);
  if (given) {
    const engine = given;
    return { ...runsOf(engine, options), engine, useFor() {}, close: () => engine.flush(), isClosed: () => false };
  }
  const settings = settingsOf(options);
  const beside = sharedOf(options.store);
  const shared =
    [...(beside ?? [])].find((other) => areEqual(other.settings, settings)) ?? open(options, settings, beside);
  shared.logger.relayTo(options.logger);
  const { engine } = shared;
  const own: Shared["users"] = new Set();
  return {
    ...runsOf(engine, options),
    engine,
    useFor(user) {
      const lists = [shared.users, own];
      const place = new WeakRef(user);
      for (const users of lists) users.add(place);
      shared.isUsed = true;
      departures.register(user, { lists, place });
    },
    async close() {
      for (const place of own) shared.users.delete(place);
      for (const other of shared.users) if (other.deref() === undefined) shared.users.delete(other);
      if (shared.users.size > 0) return engine.flush();
      await closeUnused([...(beside ?? [])].filter((other) => other !== shared));
      await engine.close();
    },
    isClosed: () => shared.isClosed,
  };
}

function runsOf(engine: Engine, options: EngineFields): EngineRuns {
  const { maxOpenEpisodes = ENGINE_DEFAULTS.maxOpenEpisodes } = givenEngine(options) ? {} : engineSettings(options);
  const { runs } = registry();
  const known = runs.get(engine);
  if (known) return known;
  const fresh: EngineRuns = {
    runs: new Runs(maxOpenEpisodes),
    turns: new Turns(4 * maxOpenEpisodes),
    later: new LaterVerdicts(maxOpenEpisodes),
    dropped: recentMap(maxOpenEpisodes),
    unshown: recentMap(4 * maxOpenEpisodes),
    calls: recentMap(maxOpenEpisodes),
    ignoredSources: new Set(),
    warned: new WeakMap(),
    vectors: { share: false },
  };
  runs.set(engine, fresh);
  return fresh;
}

function open(options: EngineFields, settings: Settings, beside: Set<Shared> | undefined): Shared {
  if (beside) void closeUnused(beside);
  const logger = new RelayedLogger();
  const store = defaultStore(options.store);
  const inner = createEngine({
    ...settings,
    logger,
    store: beside && store === options.store ? closedWithLast(store, beside) : store,
  });
  const engine: Engine = {
    ...inner,
    close() {
      // The next memory opens the ledger anew.
      beside?.delete(shared);
      shared.isClosed = true;
      return inner.close();
    },
  };
  const shared: Shared = { settings, engine, logger, users: new Set(), isUsed: false, isClosed: false };
  beside?.add(shared);
  if (beside) warnOfUnshared(options.logger, beside);
  return shared;
}

/** The store of an application's own, which the last of its engines closes. Of a path or URL, each engine has a store of its own. */
function closedWithLast(store: Store, engines: ReadonlySet<Shared>): Store {
  return withMembers(store, {
    close: async () => {
      if (engines.size === 0) await store.close();
    },
  });
}

/** Closes the engines whose users are all garbage: memories made for each call with options that cannot be shared. Never rejects. */
async function closeUnused(engines: Iterable<Shared>): Promise<void> {
  const left = [...engines].filter(
    ({ users, isUsed }) => isUsed && [...users].every((user) => user.deref() === undefined),
  );
  await Promise.allSettled(left.map(({ engine }) => engine.close()));
}

/** The engines that this process has on a ledger; undefined for one that every opening makes anew. */
function sharedOf(store: string | Store | undefined): Set<Shared> | undefined {
  const { byLocation, byStore } = registry();
  if (typeof store === "object" && store !== null) {
    const known = byStore.get(store) ?? new Set();
    byStore.set(store, known);
    return known;
  }
  const named = store ?? storeInEnvironment() ?? DEFAULT_STORE_PATH;
  // Values that are no location are refused when the store is opened.
  if (typeof named !== "string" || named.trim() === ":memory:") return undefined;
  const location = named.includes("://") ? named.trim() : resolve(named.trim());
  const known = byLocation.get(location) ?? new Set();
  byLocation.set(location, known);
  return known;
}

/** The bounds and timeouts of a new engine. */
function engineSettings({ engine }: EngineFields): EngineSettings {
  return (engine ?? {}) as EngineSettings;
}

function settingsOf(options: EngineFields): Settings {
  const given = { ...options, ...engineSettings(options) } as Settings;
  const named = Object.keys(ENGINE_OPTION_TABLE).flatMap((name) => {
    const value = given[name as keyof Settings];
    return name === "store" || name === "logger" || value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(named), enabled: isEnabled(options) } as Settings;
}

/** True when two engines would be the same: functions by identity, plain data by value. */
function areEqual(one: object, other: object): boolean {
  const [names, otherNames] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === otherNames.length &&
    names.every((name) => {
      const [value, otherValue] = [one, other].map((settings) => (settings as Record<string, unknown>)[name]);
      if (Object.is(value, otherValue)) return true;
      return isPlain(value) && isPlain(otherValue) && areEqual(value, otherValue);
    })
  );
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Logs to the logger of the last user that has one. Returns that logger's promise, if any: the engine ignores its rejection. */
class RelayedLogger implements Logger {
  #to: Logger | undefined;

  relayTo(logger: Logger | undefined): void {
    this.#to = logger ?? this.#to;
  }

  readonly debug = this.#passOn("debug");
  readonly info = this.#passOn("info");
  readonly warn = this.#passOn("warn");
  readonly error = this.#passOn("error");

  #passOn(level: keyof Logger): (message: string, fields: LogFields) => unknown {
    return (message, fields) => this.#to?.[level]?.(message, fields);
  }
}

/** Number of engines on one ledger that is no accident of a few memories with different options. */
const ENGINES_ON_ONE_LEDGER = 4;

/** Ledgers with a warning about the number of their engines. */
const WARNED_LEDGERS = new WeakSet<object>();

/** Warns once when memories pile up on one ledger and cannot share an engine: a function makes them, and their runs teach nothing. */
function warnOfUnshared(logger: Logger | undefined, engines: ReadonlySet<object>): void {
  if (engines.size < ENGINES_ON_ONE_LEDGER || WARNED_LEDGERS.has(engines)) return;
  WARNED_LEDGERS.add(engines);
  warn(
    logger,
    "ENGINE_NOT_SHARED",
    `${engines.size} memories with different options are open on one ledger. If a function makes them, Mastra calls it many times per run, and ` +
      "a run may begin with one of them and end with another, unseen: create the learner, the clock and other objects once, or one " +
      "createEngine(…) for all of them, and hand it over as qavr.engine.",
  );
}
