import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAMAGED_STATE } from "./damaged.js";
import { sealState, unsealState } from "./sealed-state.js";

const name = fc.string({ minLength: 1, unit: "grapheme" });

describe("a sealed state", () => {
  it("opens for its own address alone, and only whole", () => {
    fc.assert(
      fc.property(name, name, fc.uint8Array({ maxLength: 60 }), fc.nat(), (scope, id, value, bit) => {
        const sealed = sealState({ scope, id }, value);
        expect(unsealState({ scope, id }, sealed)).toEqual(value);
        expect(unsealState({ scope, id: `${id}x` }, sealed)).toBe(DAMAGED_STATE);
        expect(unsealState({ scope: `${scope}x`, id }, sealed)).toBe(DAMAGED_STATE);
        const at = bit % (sealed.length * 8);
        const flipped = Uint8Array.from(sealed, (byte, i) => (i === at >> 3 ? byte ^ (1 << (at & 7)) : byte));
        expect(unsealState({ scope, id }, flipped)).toBe(DAMAGED_STATE);
        expect(unsealState({ scope, id }, sealed.subarray(0, at >> 3))).toBe(DAMAGED_STATE);
      }),
    );
  });
});
