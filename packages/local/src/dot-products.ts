import { QavrError } from "@qavr/core";

/** Rows of numbers in WebAssembly's memory, and their scalar products with a request. Rows and requests have length 1, or 0. */
export interface DotProducts {
  /** Appends a row. @throws LIMIT_EXCEEDED beyond 4 GB */
  push(values: Float32Array): void;
  /** Scalar product of a request and a row. */
  exact(request: Float32Array, row: number): number;
  /** A function that finds upper bounds of `exact` for the {@link BLOCK} rows from `first` on; overwritten by its next call. */
  bounds(request: Float32Array): (first: number) => Float32Array;
}

/** Rows that are compared at once; `first` is a multiple of it. */
export const BLOCK = 256;

/** dot-products.wat, compiled; its test compiles the text again. */
export const MODULE =
  "AGFzbQEAAAABEwJgA39/fwF9YAh/f39/f319fQACEAEEaG9zdAZtZW1vcnkCAAEDAwIAAQcSAgVleGFjdAAABmJvdW5kcwABCoIDAqkBAgF/BHsgACACaiEDA0AgBCAA/QAEACAB/QAEAP3mAf3kASEEIAUgAP0ABBAgAf0ABBD95gH95AEhBSAGIAD9AAQgIAH9AAQg/eYB/eQBIQYgByAA/QAEMCAB/QAEMP3mAf3kASEHIABBwABqIQAgAUHAAGohASAAIANHDQALIAQgBf3kASAGIAf95AH95AEhBCAE/R8AIAT9HwGSIAT9HwIgBP0fA5KSC9QBAgJ/AnsDQCAAIQggASADaiEJ/QwAAAAAAAAAAAAAAAAAAAAAIQr9DAAAAAAAAAAAAAAAAAAAAAAhCwNAIAogAf0BAwAgCP0ABAD9ugH9rgEhCiALIAH9AQMIIAj9AAQQ/boB/a4BIQsgAUEQaiEBIAhBIGohCCABIAlHDQALIAogC/2uASEKIAQgASoCACAFlCAK/RsAIAr9GwFqIAr9GwIgCv0bA2pqspQgASoCBCAGlJIgB5I4AgAgAUEIaiEBIARBBGohBCACQQFrIQIgAg0ACws=";

/** The part of WebAssembly's interface that is used; the types of Node do not have it. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (size: {
    initial: number;
    maximum: number;
  }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
  Instance: new (module: object, imports: object) => { readonly exports: Functions };
}

/** Places and sizes are in bytes. */
interface Functions {
  exact(a: number, b: number, bytes: number): number;
  bounds(
    request: number,
    row: number,
    rows: number,
    bytes: number,
    out: number,
    scale: number,
    length: number,
    more: number,
  ): void;
}

/** Bytes of a page of WebAssembly's memory. */
const PAGE = 65_536;
/** 4 GB. */
const MOST_PAGES = 65_536;
/** Bytes that one step of the loops reads of a row: of floats, and of codes. */
const FLOAT_STEP = 64;
const CODE_STEP = 16;
/** Bytes behind the codes of a coarse row: its scale and the length of its rest. */
const TAIL = 8;
/** Greatest code of a row, 8 bits, and of a request, 16 bits. */
const ROW_CODE = 127;
const REQUEST_CODE = 32_767;
/** Greatest sum of products of codes, 32 bits. */
const SUM = 2 ** 31 - 1;
/** Greatest error of one operation on floats, relative to its result. */
const ROUNDING = 2 ** -24;

let compiled: object | undefined;

/**
 * A search skips each row whose bound is too low, so it reads one byte a number instead of four. Measured on 100,000 rows of 384: half
 * the time, with 100 exact products. A row v and a request q are also kept as whole numbers, with a rest:
 *
 *     v = s·c + r,   q = t·p + e        |c| ≤ 127, |p| ≤ 32,767, or less where the sum of their products could need more than 32 bits
 *     v·q = s·t·(c·p) + r·(t·p) + v·e ≤ s·t·(c·p) + ‖r‖·‖t·p‖ + ‖e‖        by Cauchy–Schwarz and ‖v‖ ≤ 1
 *
 * Rounding adds at most 2⁻²⁴ for each number of a row in `exact`, and less than 64 times that in the bound, whose terms are at most 4.
 *
 * @param dims Length of every row.
 * @throws LIMIT_EXCEEDED
 */
export function dotProducts(dims: number): DotProducts {
  const { Module, Memory, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  compiled ??= new Module(Buffer.from(MODULE, "base64"));
  const memory = new Memory({ initial: 1, maximum: MOST_PAGES });
  const { exact, bounds } = new Instance(compiled, { host: { memory } }).exports;
  // Rows are padded with zeros to whole steps.
  const floatBytes = Math.ceil((dims * 4) / FLOAT_STEP) * FLOAT_STEP;
  const codeBytes = Math.ceil(dims / CODE_STEP) * CODE_STEP;
  const coarseBytes = codeBytes + TAIL;
  // The request, its codes and the bounds; then the blocks, each with its coarse rows before its floats.
  const requestCodes = floatBytes;
  const out = requestCodes + codeBytes * 2;
  const start = out + BLOCK * 4;
  const blockAt = (row: number): number => start + Math.floor(row / BLOCK) * BLOCK * (coarseBytes + floatBytes);
  const coarseAt = (row: number): number => blockAt(row) + (row % BLOCK) * coarseBytes;
  const floatsAt = (row: number): number => blockAt(row) + BLOCK * coarseBytes + (row % BLOCK) * floatBytes;
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
        "The vectors of this collection need more than 4 GB of memory, or more than the machine has. Use a vector store for so many.",
        { cause },
      );
    }
    floats = new Float32Array(memory.buffer);
  };
  reserve(start);

  return {
    push(values) {
      reserve(blockAt(rows + BLOCK));
      floats.set(values, floatsAt(rows) / 4);
      const at = coarseAt(rows);
      const { scale, rest } = encode(values, ROW_CODE, new Int8Array(memory.buffer, at, dims));
      floats.set([scale, rest], (at + codeBytes) / 4);
      rows++;
    },
    exact(request, row) {
      floats.set(request, 0);
      return exact(0, floatsAt(row), floatBytes);
    },
    bounds(request) {
      const highest = Math.min(REQUEST_CODE, Math.floor(SUM / (ROW_CODE * dims)));
      const coarse = encode(request, highest, new Int16Array(memory.buffer, requestCodes, dims));
      const more = coarse.rest + (dims + 64) * ROUNDING;
      return (first) => {
        bounds(requestCodes, coarseAt(first), BLOCK, codeBytes, out, coarse.scale, coarse.length, more);
        return floats.subarray(out / 4, out / 4 + BLOCK);
      };
    },
  };
}

/** Writes a vector as codes in ±`highest`. Returns their scale, the length of scale · codes, and that of the rest. */
function encode(
  values: Float32Array,
  highest: number,
  codes: Int8Array | Int16Array,
): { readonly scale: number; readonly length: number; readonly rest: number } {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i] as number));
  // As WebAssembly reads it, so that the rest is that of the scale it uses. Any scale will do for zeros.
  const scale = Math.fround((most || 1) / highest);
  const perScale = 1 / scale;
  let length = 0;
  let rest = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const code = Math.floor(value * perScale + 0.5);
    codes[i] = code;
    const coarse = scale * code;
    length += coarse * coarse;
    rest += (value - coarse) * (value - coarse);
  }
  return { scale, length: Math.sqrt(length), rest: Math.sqrt(rest) };
}
