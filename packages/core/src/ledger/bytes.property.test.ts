import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QavrError } from "../errors/qavr-error.js";
import { aligned, ByteReader, ByteWriter, privateCopy } from "./bytes.js";

/** The bytes of a few calls on a writer. */
const bytesOf = (...calls: ((writer: ByteWriter) => unknown)[]): Uint8Array => {
  const writer = new ByteWriter();
  for (const call of calls) call(writer);
  return writer.finish();
};

const refusesToRead = (read: () => unknown): void => {
  expect(read).toThrowError(expect.objectContaining({ code: "INVALID_STATE" }));
};

describe("ByteWriter and ByteReader", () => {
  it("give back whole numbers of any size", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 })), (values) => {
        const writer = new ByteWriter();
        for (const value of values) {
          writer.count(value);
          writer.u32(value);
        }
        const reader = new ByteReader(writer.finish());
        for (const value of values) expect([reader.count(), reader.u32()]).toEqual([value, value]);
      }),
    );
  });

  it("write small counts in one byte", () => {
    expect([
      ...bytesOf(
        (w) => w.count(0),
        (w) => w.count(127),
        (w) => w.count(128),
      ),
    ]).toEqual([0, 127, 128, 1]);
  });

  it("give back any well-formed text, byte order marks, NUL and emoji included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(new ByteReader(bytesOf((w) => w.text(text))).text()).toBe(text);
      }),
    );
    for (const text of ["", "\uFEFF", "\uFEFFid", "\0", "é", "x".repeat(127), "x".repeat(128), "ü".repeat(5_000)]) {
      expect(new ByteReader(bytesOf((w) => w.text(text))).text()).toBe(text);
    }
  });

  it("give back floats to the precision of their kind, −0 and NaN included", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const reader = new ByteReader(
          bytesOf(
            (w) => w.f32(value),
            (w) => w.f64(value),
          ),
        );
        expect(reader.f32()).toBe(Math.fround(value));
        expect(reader.f64()).toBe(value);
      }),
    );
  });

  it("give back any numbers exactly, and take no byte for 0, one for a small whole number and four for a float32", () => {
    const lengthOf = (...values: number[]): number => bytesOf((w) => w.numbers(values)).length;
    expect([lengthOf(), lengthOf(0), lengthOf(1), lengthOf(127), lengthOf(0.5), lengthOf(0.1)]).toEqual([
      1, 2, 3, 3, 6, 10,
    ]);
    expect(lengthOf(0, 0, 0, 0, 0, 0, 0, 0)).toBe(3);
    const numbers = fc.oneof(fc.double(), fc.float(), fc.integer(), fc.constantFrom(0, -0, 1, 2 ** 21, 2 ** 53));
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 20 }), (values) => {
        expect(
          new ByteReader(
            bytesOf(
              (w) => w.numbers(values),
              (w) => w.u8(9),
            ),
          ).numbers(),
        ).toEqual(values);
      }),
    );
  });

  it("give back flags and words, and refuse those that are not known", () => {
    const words = ["a", "b"] as const;
    const bytes = bytesOf(
      (w) => w.flags(true, undefined, 5),
      (w) => w.oneOf(words, "b"),
    );
    expect([...bytes]).toEqual([5, 1]);
    const reader = new ByteReader(bytes);
    expect(reader.flags(0, 0, 0)).toEqual([true, false, true]);
    expect(reader.oneOf(words)).toBe("b");
    refusesToRead(() => new ByteReader(bytes).flags(0, 0));
    refusesToRead(() => new ByteReader(Uint8Array.of(2)).oneOf(words));
  });

  it("give back lists of names, of which the common beginnings are written once", () => {
    expect(bytesOf((w) => w.names(["memory-1", "memory-2"])).length).toBe(1 + 2 + 8 + 2 + 1);
    const beginnings = fc.constantFrom("", "memory-", "😀", "\ud83d\ude01", "é");
    const names = fc.array(fc.tuple(beginnings, fc.string({ unit: "binary", maxLength: 5 })).map(([a, b]) => a + b));
    fc.assert(
      fc.property(names, (values) => {
        expect(
          new ByteReader(
            bytesOf(
              (w) => w.names(values),
              (w) => w.u8(9),
            ),
          ).names(),
        ).toEqual(values);
      }),
    );
    refusesToRead(() =>
      new ByteReader(
        bytesOf(
          (w) => w.count(1),
          (w) => w.count(1),
          (w) => w.text("a"),
        ),
      ).names(),
    );
  });

  it("align to multiples of 8 wherever they are", () => {
    for (let length = 0; length < 20; length++) {
      const bytes = bytesOf(
        (w) => w.raw(new Uint8Array(length).fill(7)),
        (w) => w.align(),
        (w) => w.u8(1),
      );
      const reader = new ByteReader(bytes);
      reader.raw(length);
      expect([reader.align().offset % 8, reader.u8()]).toEqual([0, 1]);
    }
  });

  it("grow past any first guess without losing what was written", () => {
    const block = Uint8Array.from({ length: 5_000 }, (_, i) => i % 251);
    const reader = new ByteReader(
      bytesOf(
        (w) => w.bytes(block),
        (w) => w.bytes(block),
        (w) => w.u8(9),
      ),
    );
    expect([reader.bytes(), reader.bytes(), reader.u8()]).toEqual([block, block, 9]);
  });
});

describe("ByteReader", () => {
  it("keep apart what several writers write at a time, and start empty after the last one", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5_000 }), { minLength: 2, maxLength: 6 }), (parts) => {
        const writers = parts.map((part) => ({ part, writer: new ByteWriter() }));
        for (const { part, writer } of writers) writer.raw(part);
        for (const { part, writer } of writers) {
          writer.raw(part);
          const written = writer.finish();
          expect(written).toEqual(Uint8Array.from([...part, ...part]));
          writer.u8(9);
          expect(writer.finish()).toEqual(Uint8Array.of(9));
          bytesOf((w) => w.raw(new Uint8Array(10_000).fill(1)));
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
    refusesToRead(() => empty().list(undefined, () => 0));
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
