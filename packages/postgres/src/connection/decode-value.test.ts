import { describe, expect, it } from "vitest";
import { decoding } from "./decode-value.js";

const decode = (oid: number, text: string): unknown => decoding.getTypeParser(oid)(text);
const BYTEA = 17;

describe("a value of a row", () => {
  it("is an array of its own when it is bytea, in either of its forms", () => {
    const bytes = Uint8Array.of(0, 255, 92, 39, 65);
    const hex = decode(BYTEA, "\\x00ff5c2741") as Uint8Array;
    expect(hex).toEqual(bytes);
    expect(hex.buffer.byteLength).toBe(5);
    expect(Object.getPrototypeOf(hex)).toBe(Uint8Array.prototype);
    expect(decode(BYTEA, "\\000\\377\\\\'A")).toEqual(bytes);
    expect(decode(BYTEA, "\\x")).toEqual(new Uint8Array());
  });

  it("is a number when it is one, to the last bit", () => {
    expect(decode(20, "1795190400000001")).toBe(1_795_190_400_000_001);
    expect(decode(701, "1.795190400000123e+15")).toBe(1_795_190_400_000_123);
    expect(decode(701, "-0.1")).toBe(-0.1);
  });

  it("is text otherwise", () => {
    expect(decode(25, "12")).toBe("12");
  });
});
