import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ledgerEvent } from "../../test/support/ledger-values.js";
import { decodeEvent, encodeEvent } from "./event-codec.js";
import { MAINTENANCE_EVENTS } from "./maintenance-events.js";

describe("the event codec", () => {
  it("gives every event back as it was, hostile names and empty lists included", () => {
    fc.assert(
      fc.property(ledgerEvent, (event) => {
        expect(decodeEvent(event.type, encodeEvent(event, MAINTENANCE_EVENTS), MAINTENANCE_EVENTS)).toEqual(event);
      }),
      { numRuns: 400 },
    );
  });

  it("reads from any place in a larger buffer, a pooled Buffer included", () => {
    fc.assert(
      fc.property(ledgerEvent, fc.nat(9), (event, offset) => {
        const bytes = encodeEvent(event, MAINTENANCE_EVENTS);
        const pool = Buffer.alloc(bytes.length + 20, 0xee);
        pool.set(bytes, offset);
        const decoded = decodeEvent(event.type, pool.subarray(offset, offset + bytes.length), MAINTENANCE_EVENTS);
        expect(encodeEvent(decoded, MAINTENANCE_EVENTS)).toEqual(bytes);
      }),
    );
  });

  it("refuses truncated bytes at every length", () => {
    fc.assert(
      fc.property(ledgerEvent, (event) => {
        const bytes = encodeEvent(event, MAINTENANCE_EVENTS);
        for (let length = 0; length < bytes.length; length++) {
          expect(() => decodeEvent(event.type, bytes.subarray(0, length), MAINTENANCE_EVENTS)).toThrowError(
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
        const bytes = encodeEvent(event, MAINTENANCE_EVENTS);
        const at = place % bytes.length;
        bytes[at] = (bytes[at] as number) ^ flip;
        try {
          decodeEvent(event.type, bytes, MAINTENANCE_EVENTS);
        } catch (error) {
          expect(error).toMatchObject({ code: "INVALID_STATE" });
        }
      }),
      { numRuns: 500 },
    );
  });

  it("refuses a newer layout, an unknown type and an unknown code, and says what to do", () => {
    const event = { type: "forget", collection: "docs", ids: ["a"] } as const;
    const newer = encodeEvent(event, MAINTENANCE_EVENTS);
    newer[0] = 2;
    const refusal = (message: RegExp): unknown =>
      expect.objectContaining({ code: "INVALID_STATE", message: expect.stringMatching(message) });
    expect(() => decodeEvent("forget", newer, MAINTENANCE_EVENTS)).toThrowError(refusal(/layout 2.*Upgrade qavr/));
    for (const type of ["merger", "constructor", "__proto__"]) {
      expect(() => decodeEvent(type, encodeEvent(event, MAINTENANCE_EVENTS), MAINTENANCE_EVENTS)).toThrowError(
        refusal(new RegExp(`unknown type ${type}.*Upgrade qavr`)),
      );
    }
    const outcome = encodeEvent(
      {
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
      },
      MAINTENANCE_EVENTS,
    );
    // The tier follows version, "e" with its length, and two whole numbers with their count and kinds.
    outcome[1 + 2 + 2 + 2] = 99;
    expect(() => decodeEvent("outcome", outcome, MAINTENANCE_EVENTS)).toThrowError(
      refusal(/unknown code 99.*Upgrade qavr/),
    );
  });
});
