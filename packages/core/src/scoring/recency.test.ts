import { expect, it } from "vitest";
import { withRecency } from "./recency.js";

it("recency adds its weight to a new memory, half of it after a half-life, and nothing at an unknown age", () => {
  const recency = { halfLife: 1_000, weight: 0.2 };
  const now = Date.parse("2026-06-01T00:00:01.000Z");
  expect(withRecency(0.5, now, now, recency)).toBeCloseTo(0.7, 12);
  expect(withRecency(0.5, "2026-06-01T00:00:00.000Z", now, recency)).toBeCloseTo(0.6, 12);
  expect(withRecency(0.5, new Date(now + 5_000), now, recency)).toBeCloseTo(0.7, 12);
  for (const unknown of [undefined, null, "", "yesterday"]) expect(withRecency(0.5, unknown, now, recency)).toBe(0.5);
});
