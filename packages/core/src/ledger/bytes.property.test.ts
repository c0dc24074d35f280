import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QavrError } from "../errors/qavr-error.js";
import { aligned, ByteReader, ByteWriter, privateCopy } from "./bytes.js";

const refusesToRead = (read: () => unknown): void => {
  expect(read).toThrowError(expect.objectContaining({ code: "INVALID_STATE" }));
};

describe("ByteWriter and ByteReader", () => {
  it("give back whole numbers of any size", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 })), (values) => {
        const writer = new ByteWriter();
        for (const value of values) writer.count(value).u32(value);
        const reader = new ByteReader(writer.finish());
        for (const value of values) expect([reader.count(), reader.u32()]).toEqual([value, value]);
      }),
    );
  });

  it("write small counts in one byte", () => {
    expect([...new ByteWriter().count(0).count(127).count(128).finish()]).toEqual([0, 127, 128, 1]);
  });

  it("give back any well-formed text, byte order marks, NUL and emoji included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(new ByteReader(new ByteWriter().text(text).finish()).text()).toBe(text);
      }),
    );
    for (const text of ["", "\uFEFF", "\uFEFFid", "\0", "é", "x".repeat(127), "x".repeat(128), "ü".repeat(5_000)]) {
      expect(new ByteReader(new ByteWriter().text(text).finish()).text()).toBe(text);
    }
  });

  it("give back floats to the precision of their kind, −0 and NaN included", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const reader = new ByteReader(new ByteWriter().f32(value).f64(value).finish());
        expect(reader.f32()).toBe(Math.fround(value));
        expect(reader.f64()).toBe(value);
      }),
    );
  });

  it("give back any numbers exactly, and take no byte for 0, one for a small whole number and four for a float32", () => {
    const bytesOf = (...values: number[]): number => new ByteWriter().numbers(values).finish().length;
    expect([bytesOf(), bytesOf(0), bytesOf(1), bytesOf(127), bytesOf(0.5), bytesOf(0.1)]).toEqual([1, 2, 3, 3, 6, 10]);
    expect(bytesOf(0, 0, 0, 0, 0, 0, 0, 0)).toBe(3);
    const numbers = fc.oneof(fc.double(), fc.float(), fc.integer(), fc.constantFrom(0, -0, 1, 2 ** 21, 2 ** 53));
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 20 }), (values) => {
        expect(new ByteReader(new ByteWriter().numbers(values).u8(9).finish()).numbers()).toEqual(values);
      }),
    );
  });

  it("give back lists of names, of which the common beginnings are written once", () => {
    expect(new ByteWriter().names(["memory-1", "memory-2"]).finish().length).toBe(1 + 2 + 8 + 2 + 1);
    const beginnings = fc.constantFrom("", "memory-", "😀", "\ud83d\ude01", "é");
    const names = fc.array(fc.tuple(beginnings, fc.string({ unit: "binary", maxLength: 5 })).map(([a, b]) => a + b));
    fc.assert(
      fc.property(names, (values) => {
        expect(new ByteReader(new ByteWriter().names(values).u8(9).finish()).names()).toEqual(values);
      }),
    );
    refusesToRead(() => new ByteReader(new ByteWriter().count(1).count(1).text("a").finish()).names());
  });

  it("align to multiples of 8 wherever they are", () => {
    for (let length = 0; length < 20; length++) {
      const bytes = new ByteWriter().raw(new Uint8Array(length).fill(7)).align().u8(1).finish();
      const reader = new ByteReader(bytes);
      reader.raw(length);
      expect([reader.align().offset % 8, reader.u8()]).toEqual([0, 1]);
    }
  });

  it("grow past any first guess without losing what was written", () => {
    const block = Uint8Array.from({ length: 5_000 }, (_, i) => i % 251);
    const reader = new ByteReader(new ByteWriter().bytes(block).bytes(block).u8(9).finish());
    expect([reader.bytes(), reader.bytes(), reader.u8()]).toEqual([block, block, 9]);
  });
});

describe("ByteReader", () => {
  it("keep apart what several writers write at a time, and start empty after the last one", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5_000 }), { minLength: 2, maxLength: 6 }), (parts) => {
        const writers = parts.map((part) => ({ part, writer: new ByteWriter().raw(part) }));
        for (const { part, writer } of writers) {
          const written = writer.raw(part).finish();
          expect(written).toEqual(Uint8Array.from([...part, ...part]));
          expect(writer.u8(9).finish()).toEqual(Uint8Array.of(9));
          new ByteWriter().raw(new Uint8Array(10_000).fill(1)).finish();
          expect(written).toEqual(Uint8Array.from([...part, ...part]));
        }
      }),
    );
  });

  it("refuses to read past the end, whatever is asked for", () => {
    const empty = (): ByteReader => new ByteReader(new Uint8Array(0));
    refusesToRead(() => empty().u8());
    refusesToRead(() => empty().u32());
    refusesToRead(() => empty().f32());
    refusesToRead(() => empty().f64());
    refusesToRead(() => empty().count());
    refusesToRead(() => empty().text());
    refusesToRead(() => empty().list(() => 0));
    refusesToRead(() => new ByteReader(Uint8Array.of(5, 1, 2)).bytes());
    refusesToRead(() => new ByteReader(Uint8Array.of(255, 255, 255, 255, 255, 255, 1)).count());
  });

  it("refuses bytes that are no text", () => {
    refusesToRead(() => new ByteReader(Uint8Array.of(2, 0xff, 0xfe)).text());
  });

  it("does not look outside its part of a larger buffer", () => {
    const part = Uint8Array.of(1, 2, 3, 4).subarray(1, 2);
    const reader = new ByteReader(part);
    expect(reader.u8()).toBe(2);
    refusesToRead(() => reader.u8());
  });

  it("says what to do", () => {
    const error = (() => {
      try {
        new ByteReader(new Uint8Array(0)).u8();
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(QavrError.isInstance(error, "INVALID_STATE") && error.message).toMatch(/Replay the ledger/);
  });
});

describe("aligned and privateCopy", () => {
  it("start at a multiple of 8 with the same bytes, also for a Buffer inside a pool", () => {
    const pool = Buffer.from([0, 0, 0, 1, 2, 3]);
    for (const bytes of [pool.subarray(3), new Uint8Array(pool.buffer, pool.byteOffset + 3, 3)]) {
      const start = aligned(bytes);
      expect(start.byteOffset % 8).toBe(0);
      expect([...start]).toEqual([1, 2, 3]);
    }
    const ready = new Uint8Array(8);
    expect(aligned(ready)).toBe(ready);
  });

  it("never share memory with the original", () => {
    const original = Buffer.from([1, 2, 3]);
    const copy = privateCopy(original);
    copy[0] = 9;
    expect(original[0]).toBe(1);
  });
});
