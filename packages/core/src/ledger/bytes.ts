import { readable, unknown, unreadable } from "./unreadable.js";

/**
 * Both directions of a layout: a {@link ByteWriter} writes the values that it is given and returns them; a {@link ByteReader} ignores
 * what it is given and returns the values that it reads. A function of a coder and a value describes a layout once. While reading,
 * the value is {@link NOTHING}.
 */
export interface Coder {
  u8(value: number | undefined): number;
  u32(value: number | undefined): number;
  f32(value: number | undefined): number;
  f64(value: number | undefined): number;
  /** A whole number from 0 to 2^32 − 1, seven bits a byte: small ones are short. */
  count(value: number | undefined): number;
  text(value: string | undefined): string;
  texts(values: readonly string[] | undefined): string[];
  /** Texts that often begin alike, such as ids: of each, how many characters it has in common with the one before, then the rest. */
  names(values: readonly string[] | undefined): string[];
  /** Numbers, each exact: two bits say whether it is 0, a whole number, a float32 or a float64, and its bytes follow. */
  numbers(values: readonly (number | undefined)[] | undefined): number[];
  /** Length-prefixed bytes. */
  bytes(value: Uint8Array | undefined): Uint8Array;
  signedBytes(value: Int8Array | undefined): Int8Array;
  /** Up to eight answers in one byte: those that are truthy. A reader returns as many as it is given. */
  flags(...answers: readonly unknown[]): boolean[];
  /** One of a few words, as its place among them. */
  oneOf<Word>(words: readonly Word[], word: Word | undefined): Word;
  list<Item>(items: readonly Item[] | undefined, code: (coder: Coder, item: Partial<Item>) => Item): Item[];
}

/** The value of a layout that is read. */
export const NOTHING: Readonly<Record<string, never>> = {};

const encoder = new TextEncoder();
/** A byte order mark is a character like any other: two ids that differ by one must stay two. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Texts up to this many bytes are mostly ASCII, and read without the decoder. Engines join longer ones lazily, which costs a map more. */
const SHORT_TEXT = 12;
/** An episode fits without growing. */
const INITIAL_BYTES = 2_048;
/** Room of one writer that the next one takes over: allocating it costs more than filling it. */
const LARGEST_SPARE = 65_536;

/** The buffer of a writer. */
class Room {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
    this.view = new DataView(this.bytes.buffer);
  }
}

const NO_ROOM = new Room(0);
let spare: Room | undefined;

function takeRoom(): Room {
  const room = spare ?? new Room(INITIAL_BYTES);
  spare = undefined;
  return room;
}

/** Appends values to a growing byte array. Numbers are little-endian. */
export class ByteWriter implements Coder {
  #room = takeRoom();
  #length = 0;

  u8(value: number): number {
    this.#grow(1);
    this.#room.bytes[this.#length++] = value;
    return value;
  }

  u32(value: number): number {
    this.#grow(4);
    this.#room.view.setUint32(this.#length, value, true);
    this.#length += 4;
    return value;
  }

  f32(value: number): number {
    this.#grow(4);
    this.#room.view.setFloat32(this.#length, value, true);
    this.#length += 4;
    return value;
  }

  f64(value: number): number {
    this.#grow(8);
    this.#room.view.setFloat64(this.#length, value, true);
    this.#length += 8;
    return value;
  }

  count(value: number): number {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.u8((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.u8(rest);
    return value;
  }

  text(value: string): string {
    // Most texts here are short ASCII ids: one pass without the encoder's allocation.
    const length = value.length;
    this.#grow(length + 5);
    if (length < 0x80) {
      const { bytes } = this.#room;
      const start = this.#length + 1;
      let i = 0;
      for (; i < length; i++) {
        const unit = value.charCodeAt(i);
        if (unit > 0x7f) break;
        bytes[start + i] = unit;
      }
      if (i === length) {
        bytes[this.#length] = length;
        this.#length = start + length;
        return value;
      }
    }
    this.bytes(encoder.encode(value));
    return value;
  }

  texts(values: string[]): string[] {
    return this.list(values, textOf);
  }

  names(values: string[]): string[] {
    let before = "";
    this.count(values.length);
    for (const value of values) {
      const common = commonLength(before, value);
      this.count(common);
      this.text(value.slice(common));
      before = value;
    }
    return values;
  }

  numbers(values: number[]): number[] {
    this.count(values.length);
    for (let start = 0; start < values.length; start += 4) {
      const end = Math.min(start + 4, values.length);
      let kinds = 0;
      for (let i = start; i < end; i++) kinds |= kindOf(values[i] as number) << (2 * (i - start));
      this.u8(kinds);
      for (let i = start; i < end; i++, kinds >>= 2) {
        const value = values[i] as number;
        if ((kinds & 3) === WHOLE) this.count(value);
        else if ((kinds & 3) === FLOAT32) this.f32(value);
        else if ((kinds & 3) === FLOAT64) this.f64(value);
      }
    }
    return values;
  }

  bytes(value: Uint8Array): Uint8Array {
    this.count(value.length);
    this.raw(value);
    return value;
  }

  signedBytes(value: Int8Array): Int8Array {
    this.count(value.length);
    this.raw(value);
    return value;
  }

  /** Bytes without a length. */
  raw(value: Uint8Array | Int8Array): void {
    this.#grow(value.length);
    this.#room.bytes.set(value, this.#length);
    this.#length += value.length;
  }

  flags(...answers: readonly unknown[]): boolean[] {
    let bits = 0;
    for (let i = 0; i < answers.length; i++) if (answers[i]) bits |= 1 << i;
    this.u8(bits);
    return answers as boolean[];
  }

  oneOf<Word>(words: readonly Word[], word: Word | undefined): Word {
    this.u8(words.indexOf(word as Word));
    return word as Word;
  }

  list<Item>(items: Item[], code: (coder: Coder, item: Item) => Item): Item[] {
    this.count(items.length);
    for (const item of items) code(this, item);
    return items;
  }

  /** Zero bytes up to a multiple of 8, so that a view of float64 may start here. */
  align(): void {
    while (this.#length % 8 !== 0) this.u8(0);
  }

  /** A copy of exactly what was written. Afterwards the writer is empty. */
  finish(): Uint8Array {
    const room = this.#room;
    const written = room.bytes.slice(0, this.#length);
    this.#room = NO_ROOM;
    this.#length = 0;
    if (room.bytes.length <= LARGEST_SPARE) spare = room;
    return written;
  }

  #grow(extra: number): void {
    const { bytes } = this.#room;
    if (this.#length + extra <= bytes.length) return;
    const larger = new Room(Math.max(bytes.length * 2, this.#length + extra));
    larger.bytes.set(bytes);
    this.#room = larger;
  }
}

/** Reads what {@link ByteWriter} wrote, in the same order. Every method throws INVALID_STATE past the end and for damaged text. */
export class ByteReader implements Coder {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get offset(): number {
    return this.#at;
  }

  u8(): number {
    this.#need(1);
    return this.#bytes[this.#at++] as number;
  }

  u32(): number {
    this.#need(4);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  f32(): number {
    this.#need(4);
    this.#at += 4;
    return this.#view.getFloat32(this.#at - 4, true);
  }

  f64(): number {
    this.#need(8);
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  count(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
      if (shift > 28) throw unreadable("a count is too long");
    }
  }

  text(): string {
    const length = this.count();
    const short = length <= SHORT_TEXT ? this.#ascii(length) : undefined;
    if (short !== undefined) return short;
    const bytes = this.raw(length);
    return readable(() => decoder.decode(bytes));
  }

  texts(): string[] {
    return this.list(undefined, textOf);
  }

  names(): string[] {
    let before = "";
    return this.list(undefined, () => {
      const common = this.count();
      if (common > before.length) throw unreadable("a prefix is too long");
      before = before.slice(0, common) + this.text();
      return before;
    });
  }

  numbers(): number[] {
    const length = this.count();
    const values: number[] = [];
    for (let bits = 0; values.length < length; bits >>= 2) {
      if (values.length % 4 === 0) bits = this.u8();
      const kind = bits & 3;
      values.push(kind === ZERO ? 0 : kind === WHOLE ? this.count() : kind === FLOAT32 ? this.f32() : this.f64());
    }
    return values;
  }

  bytes(): Uint8Array {
    return this.raw(this.count());
  }

  signedBytes(): Int8Array {
    const bytes = this.bytes();
    return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  raw(length: number): Uint8Array {
    this.#need(length);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  flags(...answers: unknown[]): boolean[] {
    const bits = this.u8();
    const others = bits >> answers.length;
    if (others !== 0) throw unknown("flags", others << answers.length);
    for (let i = 0; i < answers.length; i++) answers[i] = (bits & (1 << i)) !== 0;
    return answers as boolean[];
  }

  oneOf<Word>(words: readonly Word[]): Word {
    const place = this.u8();
    const word = words[place];
    if (word === undefined) throw unknown("code", place);
    return word;
  }

  list<Item>(_: readonly Item[] | undefined, code: (coder: Coder, item: Partial<Item>) => Item): Item[] {
    const length = this.count();
    const items: Item[] = [];
    for (let i = 0; i < length; i++) items.push(code(this, NOTHING as Partial<Item>));
    return items;
  }

  align(): this {
    while (this.#at % 8 !== 0) this.u8();
    return this;
  }

  /** Everything that is left. */
  rest(): Uint8Array {
    return this.raw(this.#bytes.length - this.#at);
  }

  /** A short text without the decoder's overhead, undefined (and nothing read) if it is not all ASCII. */
  #ascii(length: number): string | undefined {
    this.#need(length);
    let text = "";
    for (let i = this.#at; i < this.#at + length; i++) {
      const byte = this.#bytes[i] as number;
      if (byte > 0x7f) return undefined;
      text += String.fromCharCode(byte);
    }
    this.#at += length;
    return text;
  }

  #need(length: number): void {
    if (this.#at + length > this.#bytes.length) throw unreadable("it ends early");
  }
}

const textOf = (coder: Coder, text: string): string => coder.text(text);

/** Kinds of numbers, two bits each. */
const ZERO = 0;
const WHOLE = 1;
const FLOAT32 = 2;
const FLOAT64 = 3;
/** Larger whole numbers take as many bytes as a float32, or do not fit into one. */
const MOST_WHOLE = 2 ** 21;

function kindOf(value: number): number {
  if (Object.is(value, 0)) return ZERO;
  if (value > 0 && value < MOST_WHOLE && Number.isInteger(value)) return WHOLE;
  return Object.is(Math.fround(value), value) ? FLOAT32 : FLOAT64;
}

/** Number of leading UTF-16 units that two texts share, without half of a character. */
function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  const isHalf = length > 0 && (a.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return isHalf ? length - 1 : length;
}

/** The same bytes at a multiple of 8 in their buffer, so that views of float64 may start there; copied only when they are not. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : privateCopy(bytes);
}

/** A copy in a buffer of its own. Not `slice`: a Buffer's is a view of the same memory. */
export function privateCopy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
