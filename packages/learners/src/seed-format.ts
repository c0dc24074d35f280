import { QavrError, type QValueOptions } from "@qavr/core";
import { Q_VALUE_DEFAULTS, type QValueShared, type QValueState } from "@qavr/core/learner";

/** The content of a state file of the published format. */
export interface SeedDocument {
  readonly memories: ReadonlyMap<string, QValueState>;
  readonly shared: QValueShared;
  /** Settings of the file, for `qValue(options)`. */
  readonly options: QValueOptions;
  /** `config.enabled`: when false, requests pass through unchanged and nothing is recorded. */
  readonly enabled: boolean;
  /** Missing or illegal values of memories and contexts that were replaced, one sentence each. */
  readonly warnings: readonly string[];
  /** The parsed file: {@link formatSeedState} writes its unknown keys back. */
  readonly source: Readonly<Record<string, unknown>>;
}

const MEMORY_KEYS = ["q_value", "access_count", "last_accessed", "success_count", "failure_count"];
const SETTINGS = {
  learning_rate: "learningRate",
  decay_factor: "decayFactor",
  warm_threshold: "warmThreshold",
  alpha_warm: "alphaWarm",
} as const;

/**
 * Reads `{ memories, contexts, config }` (a string or parsed JSON). Stored q-values are kept even when the table's
 * rewards cannot reach them; a missing, non-finite or out-of-range number of a memory or context becomes its default, with a warning.
 * Settings stay as they are: `qValue(options)` refuses illegal ones. Dates without a time mean 00:00 UTC.
 *
 * @throws INVALID_STATE when it is not JSON or not of that shape
 */
export function parseSeedState(json: string | Readonly<Record<string, unknown>>): SeedDocument {
  const source = asObject(typeof json === "string" ? parseJson(json) : json, "the file");
  const warnings: string[] = [];
  const memories = new Map<string, QValueState>();
  for (const [id, value] of Object.entries(asObject(source.memories ?? {}, "memories"))) {
    memories.set(id, readMemory(id, asObject(value, `memories.${id}`), warnings));
  }
  const contexts: Record<string, number> = Object.create(null);
  for (const [name, value] of Object.entries(asObject(source.contexts ?? {}, "contexts"))) {
    contexts[name] = count(asObject(value, `contexts.${name}`).interactions, `contexts.${name}.interactions`, warnings);
  }
  const config = asObject(configIn(source), "config");
  const options = Object.fromEntries(
    Object.entries(SETTINGS).flatMap(([key, option]) => (config[key] === undefined ? [] : [[option, config[key]]])),
  ) as QValueOptions;
  for (const name of Array.isArray(config.contexts) ? config.contexts : []) contexts[String(name)] ??= 0;
  return { memories, shared: { contexts }, options, enabled: config.enabled !== false, warnings, source };
}

/**
 * Returns `source` with new numbers; everything else of it is unchanged, also the spelling of dates.
 *
 * @param state.warmThreshold finished episodes at which a context's mode is `warm`. Default: the file's own, else 100
 */
export function formatSeedState(state: {
  readonly memories: Iterable<readonly [string, QValueState]>;
  readonly shared: QValueShared;
  readonly warmThreshold?: number | undefined;
  readonly source?: Readonly<Record<string, unknown>> | undefined;
}): Record<string, unknown> {
  const { memories, shared, source = {} } = state;
  const config = configIn(source) as { readonly warm_threshold?: number };
  const { warmThreshold = config.warm_threshold ?? Q_VALUE_DEFAULTS.warmThreshold } = state;
  const known = (source.contexts ?? {}) as Record<string, Record<string, unknown>>;
  const before = (source.memories ?? {}) as Record<string, Record<string, unknown>>;
  return {
    ...source,
    memories: Object.fromEntries(
      [...memories].map(([id, memory]) => [id, writeMemory(memory, before[id]?.last_accessed)]),
    ),
    contexts: Object.fromEntries(
      Object.entries(shared.contexts).map(([name, interactions]) => [
        name,
        { ...known[name], interactions, mode: interactions >= warmThreshold ? "warm" : "cold" },
      ]),
    ),
  };
}

function readMemory(id: string, value: Record<string, unknown>, warnings: string[]): QValueState {
  const q = value.q_value;
  const legal = typeof q === "number" && q >= 0 && q <= 1;
  if (!legal)
    warnings.push(`memories.${id}.q_value is ${String(q)}, not in [0, 1]; ${Q_VALUE_DEFAULTS.initialQ} is used.`);
  const successCount = count(value.success_count ?? 0, `memories.${id}.success_count`, warnings);
  const failureCount = count(value.failure_count ?? 0, `memories.${id}.failure_count`, warnings);
  return {
    q: legal ? q : Q_VALUE_DEFAULTS.initialQ,
    accessCount: count(value.access_count ?? 0, `memories.${id}.access_count`, warnings),
    successCount,
    failureCount,
    lastAccessed: time(value.last_accessed, `memories.${id}.last_accessed`, warnings),
    updates: successCount + failureCount,
    unknown: Object.fromEntries(Object.entries(value).filter(([key]) => !MEMORY_KEYS.includes(key))),
  };
}

/** A state file has its settings under `config`, a configuration file under `qavr`. */
function configIn(source: Readonly<Record<string, unknown>>): unknown {
  return source.config ?? source.qavr ?? {};
}

/** @param accessed The date in the file; it stays as it is while it means the same moment. */
function writeMemory(memory: QValueState, accessed: unknown): Record<string, unknown> {
  const { lastAccessed } = memory;
  const isSame = typeof accessed === "string" && Date.parse(accessed) === lastAccessed;
  return {
    ...memory.unknown,
    q_value: memory.q,
    access_count: memory.accessCount,
    last_accessed: isSame ? accessed : Number.isNaN(lastAccessed) ? null : new Date(lastAccessed).toISOString(),
    success_count: memory.successCount,
    failure_count: memory.failureCount,
  };
}

function count(value: unknown, where: string, warnings: string[]): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  warnings.push(`${where} is ${String(value)}, not a whole number of at least 0; 0 is used.`);
  return 0;
}

function time(value: unknown, where: string, warnings: string[]): number {
  if (value === undefined || value === null) return Number.NaN;
  const parsed = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(parsed))
    warnings.push(`${where} is ${String(value)}, not a date; the memory counts as never retrieved.`);
  return parsed;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new QavrError("INVALID_STATE", "A QAVR state file must be JSON. Check the file.", { cause: error });
  }
}

function asObject(value: unknown, where: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new QavrError("INVALID_STATE", `In a QAVR state file ${where} must be an object. Check the file.`, {
    details: { where },
  });
}
