import { QavrError } from "@qavr/core";

/** Rows of numbers in WebAssembly's memory, and their scalar products with a request. */
export interface DotProducts {
  /** Appends a row. @throws LIMIT_EXCEEDED beyond 4 GB */
  push(values: Float32Array): void;
  /** Scalar products of `rows` rows from `first` on, at most {@link BLOCK}; overwritten by the next call. */
  block(request: Float32Array, first: number, rows: number): Float32Array;
  /** Scalar product of one row. */
  one(request: Float32Array, row: number): number;
}

/** Most rows of one call. */
export const BLOCK = 1_024;

/**
 * dot-products.wat, compiled; its test compiles the text again. Four sums of four numbers at once. Measured on 10,000 rows of 384: 0.6 ms
 * instead of 4.3 ms in JavaScript.
 */
export const MODULE =
  "AGFzbQEAAAABCQFgBX9/f39/AAIQAQRob3N0Bm1lbW9yeQIAAQMCAQAHCAEEZG90cwAACqsCAagCAgR/BHsgASACIANsaiEFAkADQCABIAVPDQH9DAAAAAAAAAAAAAAAAAAAAAAhCf0MAAAAAAAAAAAAAAAAAAAAACEK/QwAAAAAAAAAAAAAAAAAAAAAIQv9DAAAAAAAAAAAAAAAAAAAAAAhDEEAIQYDQCABIAZqIQcgACAGaiEIIAkgB/0ABAAgCP0ABAD95gH95AEhCSAKIAf9AAQQIAj9AAQQ/eYB/eQBIQogCyAH/QAEICAI/QAEIP3mAf3kASELIAwgB/0ABDAgCP0ABDD95gH95AEhDCAGQcAAaiEGIAYgA0kNAAsgCSAK/eQBIAsgDP3kAf3kASEJIAQgCf0fACAJ/R8BkiAJ/R8CIAn9HwOSkjgCACAEQQRqIQQgASADaiEBDAALCws=";

/** The part of WebAssembly's interface that is used; the types of Node do not have it. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (size: {
    initial: number;
    maximum: number;
  }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
  Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: { dots(request: number, row: number, rows: number, bytes: number, out: number): void } };
}

/** Bytes of a page of WebAssembly's memory. */
const PAGE = 65_536;
/** 4 GB. */
const MOST_PAGES = 65_536;
/** Bytes that one step of the loop reads. */
const STEP = 64;

let compiled: object | undefined;

/** @param dims Length of every row. @throws LIMIT_EXCEEDED */
export function dotProducts(dims: number): DotProducts {
  const { Module, Memory, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  compiled ??= new Module(Buffer.from(MODULE, "base64"));
  const memory = new Memory({ initial: 1, maximum: MOST_PAGES });
  const { dots } = new Instance(compiled, { host: { memory } }).exports;
  // Rows are padded with zeros. In front of them: the request and the results.
  const stride = Math.ceil((dims * 4) / STEP) * STEP;
  const out = stride;
  const start = stride + BLOCK * 4;
  let floats = new Float32Array(memory.buffer);
  let rows = 0;

  const reserve = (bytes: number): void => {
    const missing = bytes - memory.buffer.byteLength;
    if (missing <= 0) return;
    const pages = memory.buffer.byteLength / PAGE;
    // By a quarter, so that growing is rare.
    const more = Math.max(Math.ceil(missing / PAGE), Math.min(Math.ceil(pages / 4), MOST_PAGES - pages));
    try {
      memory.grow(more);
    } catch (cause) {
      throw new QavrError(
        "LIMIT_EXCEEDED",
        "The vectors of this collection need more than 4 GB of memory, or more than there is. Keep so many in a vector store.",
        { cause },
      );
    }
    floats = new Float32Array(memory.buffer);
  };
  reserve(start + stride);

  const block = (request: Float32Array, first: number, count: number): Float32Array => {
    floats.set(request, 0);
    dots(0, start + first * stride, count, stride, out);
    return floats.subarray(out / 4, out / 4 + count);
  };
  return {
    push(values) {
      reserve(start + (rows + 1) * stride);
      floats.set(values, (start + rows * stride) / 4);
      rows++;
    },
    block,
    one: (request, row) => block(request, row, 1)[0] as number,
  };
}
