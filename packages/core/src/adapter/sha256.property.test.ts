import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "./sha256.js";

describe("sha256", () => {
  it("is that of the platform, for any text", () => {
    const repeated = fc.tuple(fc.string({ unit: "binary" }), fc.nat(40)).map(([text, times]) => text.repeat(times));
    fc.assert(
      fc.property(repeated, (text) => {
        expect(sha256(text)).toBe(createHash("sha256").update(text).digest("hex"));
      }),
      { examples: [55, 56, 63, 64, 119, 120].map((length) => ["x".repeat(length)]) },
    );
  });
});
