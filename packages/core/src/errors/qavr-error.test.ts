import { describe, expect, it } from "vitest";
import { ERROR_CODES, QavrError } from "./qavr-error.js";

describe("QavrError", () => {
  it("carries code, message, details and cause", () => {
    const cause = new Error("disk full");
    const error = new QavrError("STORE_FAILED", "The store failed.", { details: { store: "memory" }, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "QavrError",
      code: "STORE_FAILED",
      message: "The store failed.",
      details: { store: "memory" },
      cause,
    });
    expect("cause" in new QavrError("STORE_BUSY", "Busy.")).toBe(false);
    expect(new QavrError("STORE_BUSY", "Busy.").details).toEqual({});
  });

  it("is recognised across copies of the package, by code if wanted, and nothing else is", () => {
    const foreign = Object.assign(new Error("x"), { code: "STORE_BUSY", [Symbol.for("qavr.error")]: true });
    expect(QavrError.isInstance(foreign)).toBe(true);
    expect(QavrError.isInstance(foreign, "STORE_BUSY")).toBe(true);
    expect(QavrError.isInstance(foreign, "STORE_FAILED")).toBe(false);
    for (const other of [new Error("x"), null, undefined, "STORE_BUSY", { code: "STORE_BUSY" }]) {
      expect(QavrError.isInstance(other)).toBe(false);
    }
  });

  it("has one sentence for every code", () => {
    for (const [code, sentence] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(sentence).toMatch(/^[A-Z].*\.$/);
    }
  });
});
