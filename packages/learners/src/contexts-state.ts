import {
  dimsOf,
  FINITE,
  type FieldRule,
  finiteVector,
  MAX_DIMS,
  NOT_NEGATIVE,
  problemOf,
  type RunningSpread,
  type StateCodec,
  whole,
} from "@qavr/core/learner";

/** A kind of request. */
export interface RequestContext {
  /** Unit vector, Float32Array of the collection's dims. */
  readonly centre: Float32Array;
  /** Requests that moved it. */
  requests: number;
  /** Effect of this kind of request on the log-odds of success. */
  logit: number;
}

/** One collection. */
export interface ContextsShared extends RunningSpread {
  bias: number;
  contexts: RequestContext[];
}

/** Effect of showing a memory on the log-odds of success, and the evidence for it. */
export interface Effect {
  logit: number;
  evidence: number;
}

/** One memory: its effect in all contexts, and by the context's number. */
export interface ContextsMemory extends Effect {
  readonly effects: Map<number, Effect>;
}

const SHARED_HEADER = 4;
const CONTEXT_SCALARS = 2;
const MEMORY_HEADER = 2;
const EFFECT_SCALARS = 3;

const CONTEXT_RULES = { centre: finiteVector(MAX_DIMS), requests: NOT_NEGATIVE, logit: FINITE };
const SHARED_RULES: Readonly<Record<string, FieldRule>> = {
  bias: FINITE,
  spread: NOT_NEGATIVE,
  spreadCount: NOT_NEGATIVE,
  contexts: [isContexts, "contexts of one length"],
};
const EFFECT_RULES = { logit: FINITE, evidence: NOT_NEGATIVE };
const MEMORY_RULES: Readonly<Record<string, FieldRule>> = {
  ...EFFECT_RULES,
  effects: [isEffects, "a Map from a context's number to its effect"],
};

function isContexts(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const contexts = value as RequestContext[];
  return contexts.every(
    (context) =>
      problemOf(context, CONTEXT_RULES) === undefined && context.centre.length === contexts[0]?.centre.length,
  );
}

function isEffects(value: unknown): boolean {
  if (!(value instanceof Map)) return false;
  const [isNumber] = whole(0);
  return [...value].every(([context, effect]) => isNumber(context) && problemOf(effect, EFFECT_RULES) === undefined);
}

/** `[bias, spread, spreadCount, number of contexts]`, then `[requests, logit]` of each, as float64; then the centres as float32. Little-endian. */
export const sharedCodec: StateCodec<ContextsShared> = {
  empty: () => ({ bias: 0, spread: 0, spreadCount: 0, contexts: [] }),
  decode(bytes) {
    const [bias, spread, spreadCount, count] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      SHARED_HEADER,
    ) as unknown as [number, number, number, number];
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset + SHARED_HEADER * 8, count * CONTEXT_SCALARS);
    const start = (SHARED_HEADER + count * CONTEXT_SCALARS) * 8;
    const dims = count === 0 ? 0 : dimsOf((bytes.length - start) / 4 / count);
    const contexts = Array.from({ length: count }, (_, i): RequestContext => {
      const [requests, logit] = scalars.subarray(i * CONTEXT_SCALARS) as unknown as [number, number];
      return {
        centre: new Float32Array(bytes.buffer, bytes.byteOffset + start + i * dims * 4, dims),
        requests,
        logit,
      };
    });
    return { bias, spread, spreadCount, contexts };
  },
  encode({ bias, spread, spreadCount, contexts }, room) {
    const dims = contexts[0]?.centre.length ?? 0;
    const start = room + (SHARED_HEADER + contexts.length * CONTEXT_SCALARS) * 8;
    const bytes = new Uint8Array(start + contexts.length * dims * 4);
    const scalars = [bias, spread, spreadCount, contexts.length];
    contexts.forEach(({ centre, requests, logit }, i) => {
      scalars.push(requests, logit);
      new Float32Array(bytes.buffer, start + i * dims * 4, dims).set(centre);
    });
    new Float64Array(bytes.buffer, room, scalars.length).set(scalars);
    return bytes;
  },
  problem: (state) => problemOf(state, SHARED_RULES),
};

/** `[logit, evidence]`, then `[context, logit, evidence]` of each effect, by context, as float64. Empty while nothing was learned. */
export const memoryCodec: StateCodec<ContextsMemory> = {
  empty: () => ({ logit: 0, evidence: 0, effects: new Map() }),
  decode(bytes) {
    const values = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    const effects = new Map<number, Effect>();
    for (let i = MEMORY_HEADER; i < values.length; i += EFFECT_SCALARS) {
      const [context, logit, evidence] = values.subarray(i) as unknown as [number, number, number];
      effects.set(context, { logit, evidence });
    }
    return { logit: values[0] as number, evidence: values[1] as number, effects };
  },
  encode({ logit, evidence, effects }, room) {
    if (evidence === 0) return new Uint8Array(room);
    const values = [logit, evidence];
    // Sorted by context, so that equal states have equal bytes.
    for (const [context, effect] of [...effects].sort(([a], [b]) => a - b)) {
      values.push(context, effect.logit, effect.evidence);
    }
    const bytes = new Uint8Array(room + values.length * 8);
    new Float64Array(bytes.buffer, room).set(values);
    return bytes;
  },
  problem: (state) => problemOf(state, MEMORY_RULES),
};
