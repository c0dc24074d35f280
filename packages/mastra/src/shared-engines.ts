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
import { DEFAULT_STORE_PATH, ENGINE_OPTIONS, type RecentMap, recentMap, STORE_VARIABLE } from "@qavr/core/adapter";
import { defaultStore } from "./default-store.js";
import { type EngineFields, isEnabled } from "./memory-options.js";
import { Runs } from "./runs/runs.js";
import { unsharedWarning } from "./wiring-warnings.js";

/** What is known of the runs on an engine, whichever memory they began with. */
interface EngineRuns {
  readonly runs: Runs;
  /** Ids of runs, and of their traces and episodes, that ended without a record: they were shown no memory, or are not to be learned from. */
  readonly unshown: RecentMap<string, true>;
  /** Sources of scores and feedback that were said to be ignored. */
  readonly ignoredSources: Set<string>;
  /** Warnings about how memories are wired up that were said, by the logger that heard them: the engine stands for none. */
  readonly said: WeakMap<object, Set<string>>;
  /** Whether vector stores share a memory on the engine, so that its runs teach by what their tools search. */
  readonly vectors: { share: boolean };
}

/** An engine and the runs that use it. */
export interface SharedEngine extends EngineRuns {
  readonly engine: Engine;
  /** The engine is in use until {@link SharedEngine.close}, or until all users are garbage: nobody closes memories that are made for each call. */
  useFor(user: object): void;
  /** Closes the engine when nobody else uses it, else waits for everything under way. */
  close(): Promise<void>;
  /** True once this package has closed the engine; of one that was handed over that is not known. */
  isClosed(): boolean;
}

/** One engine of a ledger with everybody who uses it. */
interface Shared {
  readonly settings: Settings;
  readonly engine: Engine;
  readonly logger: RelayedLogger;
  readonly users: Set<WeakRef<object>>;
  /** False until its first user says so: it has none then either. */
  isUsed: boolean;
  isClosed: boolean;
}

/** The options that an engine is made from, but for store and logger. */
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

/** Forgets users that are garbage. Holds no engine: that would outlive its last user by a collection. */
const departures = new FinalizationRegistry<{
  readonly lists: readonly Shared["users"][];
  readonly place: WeakRef<object>;
}>(({ lists, place }) => {
  for (const users of lists) users.delete(place);
});

/**
 * The engine of a ledger for one more user. Whoever names the same ledger with the same options gets the same engine: Mastra asks a
 * function that makes a memory many times per run, and a run that begins with one of them ends with another.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function shareEngine(options: EngineFields): SharedEngine {
  if (options.engine) {
    const { engine } = options;
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
      await engine.close();
    },
    isClosed: () => shared.isClosed,
  };
}

function runsOf(engine: Engine, { maxOpenEpisodes = ENGINE_DEFAULTS.maxOpenEpisodes }: EngineFields): EngineRuns {
  const { runs } = registry();
  const known = runs.get(engine);
  if (known) return known;
  const fresh: EngineRuns = {
    runs: new Runs(maxOpenEpisodes),
    unshown: recentMap(4 * maxOpenEpisodes),
    ignoredSources: new Set(),
    said: new WeakMap(),
    vectors: { share: false },
  };
  runs.set(engine, fresh);
  return fresh;
}

function open(options: EngineFields, settings: Settings, beside: Set<Shared> | undefined): Shared {
  if (beside) closeUnused(beside);
  const logger = new RelayedLogger();
  const inner = createEngine({ ...settings, logger, store: defaultStore(options.store) });
  const engine: Engine = {
    ...inner,
    close() {
      // Closed by whomever: the next memory opens the ledger anew.
      beside?.delete(shared);
      shared.isClosed = true;
      return inner.close();
    },
  };
  const shared: Shared = { settings, engine, logger, users: new Set(), isUsed: false, isClosed: false };
  beside?.add(shared);
  if (beside) unsharedWarning(options.logger, beside);
  return shared;
}

/** Closes the engines whose users are all garbage: memories that are made for each call, with options that keep them from sharing. */
function closeUnused(engines: Set<Shared>): void {
  for (const { engine, users, isUsed } of engines) {
    const isLeft = isUsed && [...users].every((user) => user.deref() === undefined);
    if (isLeft) engine.close().catch(() => undefined);
  }
}

/** The engines that this process has on a ledger; undefined for one that every opening makes anew. */
function sharedOf(store: string | Store | undefined): Set<Shared> | undefined {
  const { byLocation, byStore } = registry();
  if (typeof store === "object" && store !== null) {
    const known = byStore.get(store) ?? new Set();
    byStore.set(store, known);
    return known;
  }
  const named = store ?? (process.env[STORE_VARIABLE] || DEFAULT_STORE_PATH);
  // What is no location is refused when it is opened.
  if (typeof named !== "string" || named.trim() === ":memory:") return undefined;
  const location = named.includes("://") ? named.trim() : resolve(named.trim());
  const known = byLocation.get(location) ?? new Set();
  byLocation.set(location, known);
  return known;
}

function settingsOf(options: EngineFields): Settings {
  const given = Object.keys(ENGINE_OPTIONS).flatMap((name) => {
    const value = options[name as keyof Settings];
    return name === "store" || name === "logger" || value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(given), enabled: isEnabled(options) } as Settings;
}

/** Whether two engines would be the same: functions by identity, plain data by value. */
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

/** Tells the logger of the last user that has one. */
class RelayedLogger implements Logger {
  #to: Logger | undefined;

  relayTo(logger: Logger | undefined): void {
    this.#to = logger ?? this.#to;
  }

  debug(message: string, fields: LogFields): void {
    this.#to?.debug?.(message, fields);
  }

  info(message: string, fields: LogFields): void {
    this.#to?.info?.(message, fields);
  }

  warn(message: string, fields: LogFields): void {
    this.#to?.warn?.(message, fields);
  }

  error(message: string, fields: LogFields): void {
    this.#to?.error?.(message, fields);
  }
}
