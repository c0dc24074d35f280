import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ledgerEvent } from "../../test/support/ledger-values.js";
import { decodeEvent, encodeEvent } from "./event-codec.js";

describe("the event codec", () => {
  it("gives every event back as it was, hostile names and empty lists included", () => {
    fc.assert(
      fc.property(ledgerEvent, (event) => {
        expect(decodeEvent(event.type, encodeEvent(event))).toEqual(event);
      }),
      { numRuns: 400 },
    );
  });

  it("gives equal bytes for equal events", () => {
    fc.assert(
      fc.property(ledgerEvent, (event) => {
        expect(encodeEvent(structuredClone(event))).toEqual(encodeEvent(event));
      }),
    );
  });

  it("reads from any place in a larger buffer, a pooled Buffer included", () => {
    fc.assert(
      fc.property(ledgerEvent, fc.nat(9), (event, offset) => {
        const bytes = encodeEvent(event);
        const pool = Buffer.alloc(bytes.length + 20, 0xee);
        pool.set(bytes, offset);
        const decoded = decodeEvent(event.type, pool.subarray(offset, offset + bytes.length));
        expect(encodeEvent(decoded)).toEqual(bytes);
      }),
    );
  });

  it("refuses truncated bytes at every length", () => {
    fc.assert(
      fc.property(ledgerEvent, (event) => {
        const bytes = encodeEvent(event);
        for (let length = 0; length < bytes.length; length++) {
          expect(() => decodeEvent(event.type, bytes.subarray(0, length))).toThrowError(
            expect.objectContaining({ code: "INVALID_STATE" }),
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  it("never fails otherwise, whatever byte is damaged", () => {
    fc.assert(
      fc.property(ledgerEvent, fc.nat(), fc.integer({ min: 1, max: 255 }), (event, place, flip) => {
        const bytes = encodeEvent(event);
        const at = place % bytes.length;
        bytes[at] = (bytes[at] as number) ^ flip;
        try {
          decodeEvent(event.type, bytes);
        } catch (error) {
          expect(error).toMatchObject({ code: "INVALID_STATE" });
        }
      }),
      { numRuns: 500 },
    );
  });

  it("refuses a newer layout, an unknown type and an unknown code, and says what to do", () => {
    const event = { type: "forget", collection: "docs", ids: ["a"] } as const;
    const newer = encodeEvent(event);
    newer[0] = 2;
    const refusal = (message: RegExp): unknown =>
      expect.objectContaining({ code: "INVALID_STATE", message: expect.stringMatching(message) });
    expect(() => decodeEvent("forget", newer)).toThrowError(refusal(/layout 2.*Upgrade qavr/));
    expect(() => decodeEvent("merger", encodeEvent(event))).toThrowError(refusal(/unknown type merger.*Upgrade qavr/));
    const outcome = encodeEvent({
      type: "outcome",
      episode: "e",
      reward: 1,
      weight: 1,
      tier: "user",
      source: "s",
      helpful: [],
      harmful: [],
      neutral: [],
      used: undefined,
      note: "",
      rules: undefined,
    });
    // The tier follows version, "e" with its length, and two whole numbers with their count and kinds.
    outcome[1 + 2 + 2 + 2] = 99;
    expect(() => decodeEvent("outcome", outcome)).toThrowError(refusal(/unknown code 99.*Upgrade qavr/));
  });
});
