import type { StateCodec } from "../learner.js";
import { type FieldRule, NOT_NEGATIVE, problemOf, TIME, UNIT } from "../legality.js";

/** One memory. Names outside are the seed's (`q_value`, …); keys that this version does not know are kept. */
export interface QavrMemory {
  q: number;
  accessCount: number;
  successCount: number;
  failureCount: number;
  /** Unix ms, NaN for never. */
  lastAccessed: number;
  /** Updates of q, to find the place of one among later ones when it is taken back. */
  updates: number;
  unknown: Record<string, unknown>;
}

/** Finished episodes per context. */
export interface QavrShared {
  contexts: Record<string, number>;
}

const MEMORY_RULES: Readonly<Record<string, FieldRule>> = {
  q: UNIT,
  accessCount: NOT_NEGATIVE,
  successCount: NOT_NEGATIVE,
  failureCount: NOT_NEGATIVE,
  lastAccessed: TIME,
  updates: NOT_NEGATIVE,
  unknown: [(value) => typeof value === "object" && value !== null, "an object"],
};
const SHARED_RULES: Readonly<Record<string, FieldRule>> = {
  contexts: [
    (value) => typeof value === "object" && value !== null && Object.values(value).every(NOT_NEGATIVE[0]),
    "an object of counts",
  ],
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const toBytes = (value: unknown, room: number): Uint8Array => {
  const json = encoder.encode(JSON.stringify(value));
  const bytes = new Uint8Array(room + json.length);
  bytes.set(json, room);
  return bytes;
};
const fromBytes = (bytes: Uint8Array): Record<string, unknown> => JSON.parse(decoder.decode(bytes));

/** JSON: the seed's own format is JSON, and doubles survive it exactly. */
export function memoryCodec(initialQ: number): StateCodec<QavrMemory> {
  return {
    empty: () => ({
      q: initialQ,
      accessCount: 0,
      successCount: 0,
      failureCount: 0,
      lastAccessed: Number.NaN,
      updates: 0,
      unknown: {},
    }),
    decode(bytes) {
      const { lastAccessed, ...rest } = fromBytes(bytes) as unknown as Omit<QavrMemory, "lastAccessed"> & {
        lastAccessed: number | null;
      };
      return { ...rest, lastAccessed: lastAccessed ?? Number.NaN };
    },
    encode: toBytes,
    problem: (state) => problemOf(state, MEMORY_RULES),
  };
}

export const sharedCodec: StateCodec<QavrShared> = {
  // Names of contexts are anybody's: a null prototype keeps `__proto__` an ordinary key.
  empty: () => ({ contexts: Object.create(null) as Record<string, number> }),
  decode: (bytes) => ({
    contexts: Object.assign(Object.create(null), fromBytes(bytes).contexts) as Record<string, number>,
  }),
  encode: ({ contexts }, room) => toBytes({ contexts: Object.fromEntries(Object.entries(contexts)) }, room),
  problem: (state) => problemOf(state, SHARED_RULES),
};
