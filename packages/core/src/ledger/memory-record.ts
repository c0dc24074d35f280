import type { StateCodec } from "../learners/learner.js";
import { aligned } from "./bytes.js";
import { readable, unreadable } from "./unreadable.js";

const HEADER_BYTES = 16;
const SHOWN_AT = 4;
const CONFIRMED_AT = 7;
const FORGOTTEN_AT = 8;
/** Exposures are counted up to here … */
const MAX_SHOWN = 0xff_ffff;
/** … and confirmations up to here. */
const MAX_CONFIRMED = 0xff;

/**
 * What is kept for one memory: 16 bytes that the ledger needs whatever the learner, then the learner's own bytes (none
 * before the memory taught), which are decoded when they are first asked for.
 *
 *     u32 content hash | u24 times shown | u8 confirmations | f64 seq of the entry that forgot it | learner…
 */
export class MemoryRecord<Memory> {
  /** Fingerprint of the text when it was last shown, 0 if unknown. */
  contentHash = 0;
  /** Exposures that showed it. */
  shown = 0;
  /** Verified successes of episodes that showed it. */
  confirmed = 0;
  /** Place in the ledger at which it was last forgotten (or reset by an edit), 0 for never. Exposures up to it no longer reach it. */
  forgottenAt = 0;
  readonly #codec: StateCodec<Memory>;
  #bytes: Uint8Array | undefined;
  #read: Memory | undefined;
  #draft: Memory | undefined;

  /** `bytes` are only read: a draft is made from a copy. @throws INVALID_STATE */
  constructor(codec: StateCodec<Memory>, bytes?: Uint8Array) {
    this.#codec = codec;
    if (!bytes) return;
    const start = aligned(bytes);
    const header = headerOf(start);
    this.contentHash = header.getUint32(0, true);
    const counts = header.getUint32(SHOWN_AT, true);
    this.shown = counts & MAX_SHOWN;
    this.confirmed = counts >>> 24;
    this.forgottenAt = header.getFloat64(FORGOTTEN_AT, true);
    if (start.length > HEADER_BYTES) this.#bytes = start.subarray(HEADER_BYTES);
  }

  /** The learner's state to read, undefined where nothing was learned. @throws INVALID_STATE */
  get learned(): Memory | undefined {
    const bytes = this.#bytes;
    if (this.#draft === undefined && bytes) this.#read ??= readable(() => this.#codec.decode(bytes));
    return this.#draft ?? this.#read;
  }

  /** Replaces the learner's state; undefined starts cold. */
  set learned(state: Memory | undefined) {
    this.#draft = state;
    this.#read = undefined;
    this.#bytes = undefined;
  }

  /** The learner's state to change in place, created when there is none. @throws INVALID_STATE */
  draft(): Memory {
    if (this.#draft === undefined) {
      const bytes = this.#bytes;
      this.learned = bytes ? readable(() => this.#codec.decode(copyWithRoom(bytes))) : this.#codec.empty();
    }
    return this.#draft as Memory;
  }

  encode(): Uint8Array {
    const bytes = this.#draft === undefined ? this.#untouched() : this.#codec.encode(this.#draft, HEADER_BYTES);
    const header = headerOf(bytes);
    header.setUint32(0, this.contentHash, true);
    header.setUint32(SHOWN_AT, Math.min(this.shown, MAX_SHOWN), true);
    header.setUint8(CONFIRMED_AT, Math.min(this.confirmed, MAX_CONFIRMED));
    header.setFloat64(FORGOTTEN_AT, this.forgottenAt, true);
    return bytes;
  }

  #untouched(): Uint8Array {
    const bytes = new Uint8Array(HEADER_BYTES + (this.#bytes?.length ?? 0));
    if (this.#bytes) bytes.set(this.#bytes, HEADER_BYTES);
    return bytes;
  }
}

/** @throws INVALID_STATE for fewer bytes than a header has */
function headerOf(record: Uint8Array): DataView {
  if (record.length < HEADER_BYTES) throw unreadable("it ends early");
  return new DataView(record.buffer, record.byteOffset, HEADER_BYTES);
}

/** A private copy behind room for a header, so that a draft which keeps its size can be encoded where it lies. */
function copyWithRoom(learned: Uint8Array): Uint8Array {
  const record = new Uint8Array(HEADER_BYTES + learned.length);
  record.set(learned, HEADER_BYTES);
  return record.subarray(HEADER_BYTES);
}

/** The learner's part of an encoded record, empty where nothing was learned. */
export function learnedBytes(bytes: Uint8Array): Uint8Array {
  return aligned(bytes).subarray(HEADER_BYTES);
}

/** Verified successes of episodes that showed an encoded record's memory, at most 255. */
export function confirmationsIn(bytes: Uint8Array): number {
  return bytes[CONFIRMED_AT] ?? 0;
}
