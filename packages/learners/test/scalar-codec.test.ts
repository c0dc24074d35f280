import { QavrError } from "@qavr/core";
import { NOT_NEGATIVE, TIME } from "@qavr/core/learner";
import { describe, expect, it } from "vitest";
import { scalarCodec } from "../src/scalar-codec.js";

const codec = scalarCodec<{ count: number; last: number }>({
  count: { empty: 0, rule: NOT_NEGATIVE },
  last: { empty: Number.NaN, rule: TIME },
});

describe("scalarCodec", () => {
  it("writes float64 in the order of the fields behind the room that it is asked to leave", () => {
    const bytes = codec.encode({ count: 1.5, last: 7 }, 16);
    expect([...new Float64Array(bytes.buffer)]).toEqual([0, 0, 1.5, 7]);
    expect(codec.decode(bytes.subarray(16))).toEqual({ count: 1.5, last: 7 });
  });

  it("takes no bytes for the state that it starts with, NaN included, and some for every other", () => {
    expect(codec.encode(codec.empty(), 8)).toHaveLength(8);
    expect(codec.encode({ count: 0, last: 0 }, 0)).toHaveLength(16);
  });

  it("refuses bytes of another length", () => {
    for (const length of [8, 24]) {
      let thrown: unknown;
      try {
        codec.decode(new Uint8Array(length));
      } catch (error) {
        thrown = error;
      }
      expect(QavrError.isInstance(thrown, "INVALID_STATE")).toBe(true);
    }
  });

  it("names the field that breaks its rule", () => {
    expect(codec.problem({ count: -1, last: Number.NaN })).toContain("count must be");
    expect(codec.problem({ count: 1 })).toContain("last must be");
    expect(codec.problem({ count: 1, last: Number.NaN })).toBeUndefined();
  });
});
