import { QavrError } from "../errors/qavr-error.js";
import type { Learner, StateCodec } from "../learners/learner.js";
import { aligned, ByteReader, ByteWriter } from "./bytes.js";
import { assertLayout, readable } from "./unreadable.js";
import { BANDS } from "./utility-bands.js";

/** The record of one collection: learner and vector space of its memories' states, then the learner's own state. */
export interface SharedRecord {
  readonly learner: string;
  /** Space and given length of the first request vector; empty and 0 before one was seen. */
  space: string;
  length: number;
  /** Memories of it that were shown. */
  memories: number;
  /** Memories in each band of utility, lowest first. */
  readonly bands: number[];
  state: unknown;
}

export function emptyShared({ id, shared }: Learner): SharedRecord {
  const bands = new Array<number>(BANDS).fill(0);
  return { learner: id, space: "", length: 0, memories: 0, bands, state: shared.empty() };
}

/** First byte of the record: a change of layout, here or in the memories' records, is a new one. */
const LAYOUT = 1;

/** @throws LEARNER_MISMATCH when another learner wrote it, INVALID_STATE for another layout or damaged bytes */
export function decodeSharedRecord(bytes: Uint8Array, wanted: Learner): SharedRecord {
  const reader = new ByteReader(aligned(bytes));
  assertLayout(reader.u8(), LAYOUT, "collection state");
  const learner = reader.text();
  if (learner !== wanted.id) throw learnerMismatch(learner, wanted.id);
  const codec = wanted.shared;
  const space = reader.text();
  const length = reader.count();
  const memories = reader.count();
  // Not Array.from, which takes more than ten times as long.
  const bands: number[] = [];
  while (bands.length < BANDS) bands.push(reader.count());
  const rest = reader.align().rest();
  return {
    learner,
    space,
    length,
    memories,
    bands,
    state: rest.length === 0 ? codec.empty() : readable(() => codec.decode(rest)),
  };
}

export function encodeSharedRecord(record: SharedRecord, codec: StateCodec<unknown>): Uint8Array {
  const { learner, space, length, memories, bands, state } = record;
  const writer = new ByteWriter();
  writer.u8(LAYOUT);
  writer.text(learner);
  writer.text(space);
  for (const count of [length, memories, ...bands]) writer.count(count);
  writer.align();
  const head = writer.finish();
  const bytes = codec.encode(state, head.length);
  bytes.set(head);
  return bytes;
}

export function learnerMismatch(stored: string, wanted: string): QavrError {
  return new QavrError(
    "LEARNER_MISMATCH",
    `The namespace's state was learned by ${stored}, not ${wanted}. Use that learner, or call replay(engine, { write: true }).`,
    { details: { stored, wanted } },
  );
}
