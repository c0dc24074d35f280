import type { StateCodec } from "../learners/learner.js";
import { aligned } from "./bytes.js";
import { readable, unreadable } from "./unreadable.js";

const HEADER_BYTES = 56;
const SHOWN_AT = 4;
const CONFIRMED_AT = 7;
const FORGOTTEN_AT = 8;
const LAST_SHOWN_AT = 16;
const COUNTS_AT = 24;
const LABELLED_AT = 52;
const BAND_AT = 53;
/** Offset of the place of an edit, in a header that is longer by it. */
const EDITED_AT = 56;
const EDITED_HEADER_BYTES = 64;
/** Counts of episodes that showed it, in the order of their bytes. */
const COUNTS = ["used", "successes", "failures", "helpful", "harmful", "wins", "losses"] as const;
/** Exposures are counted up to here … */
const MAX_SHOWN = 0xff_ffff;
/** … and confirmations up to here. */
const MAX_CONFIRMED = 0xff;

/** The band of utility that lists a memory, by the bytes of its record; 0 for none. */
export const bandIn = (record: Uint8Array): number => record[BAND_AT] ?? 0;

/**
 * The record of one memory: 56 bytes of the ledger, for every learner, then the learner's own bytes (none
 * before the memory taught), which are decoded when they are first asked for.
 *
 *     u32 content hash | u24 times shown | u8 confirmations | f64 seq of the entry that forgot it | f64 last shown, Unix ms |
 *     u32 used | u32 successes | u32 failures | u32 helpful | u32 harmful | u32 wins | u32 losses | u8 1 with a label,
 *     else 0 | u8 band of utility, 0 for none | u16 0 | learner…
 *
 * A memory that kept evidence through an edit has 8 more, which the sign bit of the seq announces: the f64 seq before which
 * exposures showed another text.
 */
export class MemoryRecord {
  /** Fingerprint of the text when it was last shown, 0 if unknown. */
  contentHash = 0;
  /** Exposures that showed it. */
  shown = 0;
  /** When it was last shown, Unix ms; 0 for never. */
  lastShown = 0;
  /** Episodes that showed it and used it. */
  used = 0;
  /** Episodes that showed it, by the reward that counts: 0.5 or more, or less. */
  successes = 0;
  failures = 0;
  /** Votes that count. */
  helpful = 0;
  harmful = 0;
  /** Verdicts by vote or, where it was used, by reward. */
  wins = 0;
  losses = 0;
  /** True when a label of it is stored. */
  labelled = false;
  /** The band of utility that lists it, 0 for none. */
  band = 0;
  /** True when it had been shown before this entry. */
  wasShown = false;
  /** Verified successes of episodes that showed it. */
  confirmed = 0;
  /** Place in the ledger at which it was last forgotten (or reset by an edit), 0 for never. Exposures up to it no longer reach it. */
  forgottenAt = 0;
  /**
   * Place in the ledger of the last entry before an edit that left evidence, 0 for none. Exposures up to it still teach, but showed
   * another text: they confirm this one no more.
   */
  editedAt = 0;
  readonly #codec: StateCodec<unknown>;
  #bytes: Uint8Array | undefined;
  /** True when the bytes lie behind room for a header, in a buffer that nothing else uses. */
  #ownsBytes = false;
  #read: unknown;
  #draft: unknown;

  /** `bytes` are only read: a draft is made from a copy. @throws INVALID_STATE */
  constructor(codec: StateCodec<unknown>, bytes?: Uint8Array) {
    this.#codec = codec;
    if (!bytes) return;
    const start = aligned(bytes);
    const header = headerOf(start, HEADER_BYTES);
    this.contentHash = header.getUint32(0, true);
    const counts = header.getUint32(SHOWN_AT, true);
    this.shown = counts & MAX_SHOWN;
    this.confirmed = counts >>> 24;
    this.forgottenAt = Math.abs(header.getFloat64(FORGOTTEN_AT, true));
    this.lastShown = header.getFloat64(LAST_SHOWN_AT, true);
    // One by one: computed names of fields are slow, and a fold reads millions.
    this.used = header.getUint32(COUNTS_AT, true);
    this.successes = header.getUint32(COUNTS_AT + 4, true);
    this.failures = header.getUint32(COUNTS_AT + 8, true);
    this.helpful = header.getUint32(COUNTS_AT + 12, true);
    this.harmful = header.getUint32(COUNTS_AT + 16, true);
    this.wins = header.getUint32(COUNTS_AT + 20, true);
    this.losses = header.getUint32(COUNTS_AT + 24, true);
    this.labelled = header.getUint8(LABELLED_AT) === 1;
    this.band = header.getUint8(BAND_AT);
    this.wasShown = this.shown > 0;
    const length = headerBytesOf(start);
    if (length === EDITED_HEADER_BYTES) this.editedAt = headerOf(start, length).getFloat64(EDITED_AT, true);
    if (start.length > length) this.#bytes = start.subarray(length);
  }

  /** The learner's state to read, undefined where nothing was learned. @throws INVALID_STATE */
  get learned(): unknown {
    const bytes = this.#bytes;
    if (this.#draft === undefined && bytes) this.#read ??= readable(() => this.#codec.decode(bytes));
    return this.#draft ?? this.#read;
  }

  /** True when the learner's state is the stored one. */
  get isAsStored(): boolean {
    return this.#draft === undefined && this.#bytes !== undefined;
  }

  /** Replaces the learner's state; undefined starts cold. */
  set learned(state: unknown) {
    this.#draft = state;
    this.#read = undefined;
    this.#bytes = undefined;
  }

  /** The learner's state to change in place, created when there is none. @throws INVALID_STATE */
  draft(): unknown {
    if (this.#draft === undefined) {
      const bytes = this.#bytes;
      this.learned = bytes
        ? readable(() => this.#codec.decode(this.#ownsBytes ? bytes : copyWithRoom(bytes, this.#headerBytes)))
        : this.#codec.empty();
    }
    return this.#draft;
  }

  encode(): Uint8Array {
    const length = this.#headerBytes;
    const bytes = this.#draft === undefined ? this.#untouched(length) : this.#codec.encode(this.#draft, length);
    const header = headerOf(bytes, length);
    header.setUint32(0, this.contentHash, true);
    header.setUint32(SHOWN_AT, Math.min(this.shown, MAX_SHOWN), true);
    header.setUint8(CONFIRMED_AT, Math.min(this.confirmed, MAX_CONFIRMED));
    const edited = length === EDITED_HEADER_BYTES;
    // Minus zero has a sign bit too.
    header.setFloat64(FORGOTTEN_AT, edited ? -this.forgottenAt : this.forgottenAt, true);
    header.setFloat64(LAST_SHOWN_AT, this.lastShown, true);
    header.setUint8(LABELLED_AT, this.labelled ? 1 : 0);
    header.setUint8(BAND_AT, this.band);
    header.setUint32(COUNTS_AT, this.used, true);
    header.setUint32(COUNTS_AT + 4, this.successes, true);
    header.setUint32(COUNTS_AT + 8, this.failures, true);
    header.setUint32(COUNTS_AT + 12, this.helpful, true);
    header.setUint32(COUNTS_AT + 16, this.harmful, true);
    header.setUint32(COUNTS_AT + 20, this.wins, true);
    header.setUint32(COUNTS_AT + 24, this.losses, true);
    if (edited) header.setFloat64(EDITED_AT, this.editedAt, true);
    return bytes;
  }

  /** Makes it, for a later entry, the record that is read from its bytes: the learner's state passes its codec, which may round. */
  readAgain(): void {
    this.wasShown = this.shown > 0;
    this.confirmed = Math.min(this.confirmed, MAX_CONFIRMED);
    if (this.#draft === undefined) return;
    const length = this.#headerBytes;
    const bytes = this.#codec.encode(this.#draft, length);
    this.learned = undefined;
    if (bytes.length === length) return;
    this.#bytes = bytes.subarray(length);
    this.#ownsBytes = true;
  }

  /** Starts again without evidence: exposures of entries up to `seq` no longer reach it. */
  startCold(seq: number): void {
    this.forgottenAt = seq;
    this.shown = 0;
    this.lastShown = 0;
    this.confirmed = 0;
    for (const count of COUNTS) this[count] = 0;
    this.learned = undefined;
  }

  /** True when an exposure of entry `seq` showed this memory as it is: neither forgotten nor edited since. */
  isPresentAt(seq: number): boolean {
    return seq > this.forgottenAt && seq > this.editedAt;
  }

  /** Length of the header. An edit that came before the forgetting needs no place in it. */
  get #headerBytes(): number {
    return this.editedAt > this.forgottenAt ? EDITED_HEADER_BYTES : HEADER_BYTES;
  }

  #untouched(length: number): Uint8Array {
    const bytes = new Uint8Array(length + (this.#bytes?.length ?? 0));
    if (this.#bytes) bytes.set(this.#bytes, length);
    return bytes;
  }
}

/** @throws INVALID_STATE for fewer bytes than a header has */
function headerOf(record: Uint8Array, length: number): DataView {
  if (record.length < length) throw unreadable("it ends early");
  return new DataView(record.buffer, record.byteOffset, length);
}

function headerBytesOf(record: Uint8Array): number {
  return ((record[FORGOTTEN_AT + 7] ?? 0) & 0x80) === 0 ? HEADER_BYTES : EDITED_HEADER_BYTES;
}

/** A private copy behind room for a header, so that a draft which keeps its size can be encoded where it lies. */
function copyWithRoom(learned: Uint8Array, room: number): Uint8Array {
  const record = new Uint8Array(room + learned.length);
  record.set(learned, room);
  return record.subarray(room);
}

/** The learner's part of an encoded record, empty where nothing was learned. @throws INVALID_STATE */
export function learnedBytes(bytes: Uint8Array): Uint8Array {
  const record = aligned(bytes);
  const length = headerBytesOf(record);
  if (record.length < length) throw unreadable("it ends early");
  return record.subarray(length);
}

/** Fingerprint of the text that an encoded record's memory was last shown with, 0 if unknown. @throws INVALID_STATE */
export function contentHashIn(bytes: Uint8Array): number {
  return headerOf(bytes, HEADER_BYTES).getUint32(0, true);
}

/** Verified successes of episodes that showed an encoded record's memory, at most 255. */
export function confirmationsIn(bytes: Uint8Array): number {
  return bytes[CONFIRMED_AT] ?? 0;
}
