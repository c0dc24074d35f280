import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { HOSTILE_NAMES } from "../../test/support/hostile-text.js";
import { QavrError } from "../errors/qavr-error.js";
import { STORE_LIMITS } from "./store.js";
import {
  assertBatch,
  assertBytes,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  sameBytes,
  withoutNegativeZero,
} from "./validate.js";

const codeOf = (action: () => void): string | undefined => {
  try {
    action();
  } catch (error) {
    return QavrError.isInstance(error) ? error.code : String(error);
  }
  return undefined;
};

describe("assertName", () => {
  it.each(HOSTILE_NAMES)("accepts %j", (name) => {
    expect(codeOf(() => assertName(name, "name"))).toBeUndefined();
  });

  it.each([[""], [null], [undefined], [7], [{}], ["\ud800"], ["a\udc00b"]])("refuses %j as an INVALID_ID", (name) => {
    expect(codeOf(() => assertName(name, "name"))).toBe("INVALID_ID");
  });

  it("accepts exactly 512 UTF-16 units", () => {
    expect(codeOf(() => assertName("x".repeat(STORE_LIMITS.nameLength), "name"))).toBeUndefined();
    expect(codeOf(() => assertName("x".repeat(STORE_LIMITS.nameLength + 1), "name"))).toBe("LIMIT_EXCEEDED");
  });
});

describe("assertEntry", () => {
  const entry = { key: "k", type: "t", at: 0, payload: new Uint8Array(1) };

  it("accepts an entry within the limits", () => {
    expect(codeOf(() => assertEntry(entry))).toBeUndefined();
    expect(codeOf(() => assertEntry({ ...entry, payload: new Uint8Array(STORE_LIMITS.payloadBytes) }))).toBeUndefined();
  });

  it("refuses wrong keys, types, times and sizes by code", () => {
    expect(codeOf(() => assertEntry({ ...entry, key: "" }))).toBe("INVALID_ID");
    expect(codeOf(() => assertEntry({ ...entry, type: "" }))).toBe("INVALID_ID");
    expect(codeOf(() => assertEntry({ ...entry, key: "k".repeat(513) }))).toBe("LIMIT_EXCEEDED");
    expect(codeOf(() => assertEntry({ ...entry, at: Number.NaN }))).toBe("INVALID_ARGUMENT");
    expect(codeOf(() => assertEntry({ ...entry, payload: new Uint8Array(STORE_LIMITS.payloadBytes + 1) }))).toBe(
      "LIMIT_EXCEEDED",
    );
  });
});

describe("assertState and assertBytes", () => {
  const state = { scope: "s", id: "i" };

  it("take bytes, of a Buffer and of another realm too, and null for a state that is removed", () => {
    const foreign = runInNewContext("new Uint8Array(3)") as Uint8Array;
    for (const value of [Uint8Array.of(1), new Uint8Array(), Buffer.from("x"), foreign, null]) {
      expect(codeOf(() => assertState({ ...state, value }))).toBeUndefined();
    }
  });

  it.each([["text"], [""], [[1, 2]], [7], [undefined], [{ length: 1 }], [new Float64Array(1)], [new ArrayBuffer(1)]])(
    "refuse %j",
    (value) => {
      expect(codeOf(() => assertState({ ...state, value: value as unknown as Uint8Array }))).toBe("INVALID_ARGUMENT");
    },
  );
});

describe("withoutNegativeZero", () => {
  it("takes the sign from zero, and nothing from any other time", () => {
    expect(Object.is(withoutNegativeZero(-0), 0)).toBe(true);
    for (const at of [5e-324, -5e-324, 1e308, -1e308, 2 ** 53, -1.5]) expect(withoutNegativeZero(at)).toBe(at);
  });
});

describe("assertLimit, assertBatch and assertBytes", () => {
  it("hold the documented bounds", () => {
    for (const limit of [1, 10_000]) expect(codeOf(() => assertLimit(limit))).toBeUndefined();
    for (const limit of [0, -1, 1.5, Number.NaN]) expect(codeOf(() => assertLimit(limit))).toBe("INVALID_ARGUMENT");
    expect(codeOf(() => assertLimit(10_001))).toBe("LIMIT_EXCEEDED");
    expect(codeOf(() => assertBatch(10_000, "read"))).toBeUndefined();
    expect(codeOf(() => assertBatch(10_001, "read"))).toBe("LIMIT_EXCEEDED");
    expect(codeOf(() => assertBytes(new Uint8Array(STORE_LIMITS.payloadBytes + 1), "state"))).toBe("LIMIT_EXCEEDED");
  });
});

describe("sameBytes", () => {
  it("compares length and every byte", () => {
    expect(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
    expect(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
    expect(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0))).toBe(false);
    expect(sameBytes(new Uint8Array(0), new Uint8Array(0))).toBe(true);
  });
});
