import type { StateCodec } from "../learners/learner.js";
import { aligned } from "./bytes.js";

const HEADER_BYTES = 16;

/**
 * What is kept for one memory: 16 bytes that the ledger needs whatever the learner, then the learner's own bytes (none
 * before the memory taught), which are decoded when they are first asked for.
 *
 *     u32 content hash | u32 times shown | f64 seq of the entry that forgot it | learner…
 */
export class MemoryRecord<Memory> {
  /** Fingerprint of the text when it was last shown, 0 if unknown. */
  contentHash = 0;
  /** Exposures that showed it. */
  shown = 0;
  /** Place in the ledger at which it was last forgotten, 0 for never. Older exposures no longer reach it. */
  forgottenAt = 0;
  readonly #codec: StateCodec<Memory>;
  #bytes: Uint8Array | undefined;
  #learned: Memory | undefined;

  /** `bytes` stay untouched as long as nobody changes `learned`: copy them first for a draft. */
  constructor(codec: StateCodec<Memory>, bytes?: Uint8Array) {
    this.#codec = codec;
    if (!bytes) return;
    const start = aligned(bytes);
    const view = new DataView(start.buffer, start.byteOffset, HEADER_BYTES);
    this.contentHash = view.getUint32(0, true);
    this.shown = view.getUint32(4, true);
    this.forgottenAt = view.getFloat64(8, true);
    if (start.length > HEADER_BYTES) this.#bytes = start.subarray(HEADER_BYTES);
  }

  /** The learner's state, undefined where nothing was learned. */
  get learned(): Memory | undefined {
    if (this.#learned === undefined && this.#bytes) this.#learned = this.#codec.decode(this.#bytes);
    return this.#learned;
  }

  /** Replaces the learner's state; undefined starts cold. */
  set learned(state: Memory | undefined) {
    this.#learned = state;
    this.#bytes = undefined;
  }

  /** The learner's state to change in place, created when there is none. Only for records made from copied bytes. */
  draft(): Memory {
    const state = this.learned ?? this.#codec.empty();
    this.learned = state;
    return state;
  }

  encode(): Uint8Array {
    const bytes = this.#learned === undefined ? this.#untouched() : this.#codec.encode(this.#learned, HEADER_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
    view.setUint32(0, this.contentHash, true);
    view.setUint32(4, this.shown, true);
    view.setFloat64(8, this.forgottenAt, true);
    return bytes;
  }

  #untouched(): Uint8Array {
    const bytes = new Uint8Array(HEADER_BYTES + (this.#bytes?.length ?? 0));
    if (this.#bytes) bytes.set(this.#bytes, HEADER_BYTES);
    return bytes;
  }
}
