import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recentMap } from "./recent-map.js";

const commands = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant("set" as const), key: fc.nat(30), value: fc.nat() }),
    fc.record({ what: fc.constant("delete" as const), key: fc.nat(30) }),
  ),
  // By default lists stay short of most limits.
  { maxLength: 200, size: "max" },
);

describe("a map of recent entries", () => {
  it("agrees with a map that forgets nothing about the last half, and never holds more than its limit", () => {
    fc.assert(
      fc.property(commands, fc.integer({ min: 2, max: 20 }), (steps, limit) => {
        const recent = recentMap<number, number>(limit);
        const all = new Map<number, number>();
        const sets: number[] = [];
        for (const step of steps) {
          all.delete(step.key);
          if (step.what === "set") {
            recent.set(step.key, step.value);
            all.set(step.key, step.value);
            sets.push(step.key);
          } else recent.delete(step.key);
          expect(recent.size).toBeLessThanOrEqual(limit);
          for (const [key, value] of all) if (recent.has(key)) expect(recent.get(key)).toBe(value);
          // A deletion does not bring back entries that were dropped before it.
          for (const key of sets.slice(-Math.floor(limit / 2))) expect(recent.get(key)).toBe(all.get(key));
        }
        for (let key = 0; key <= 30; key++) if (!all.has(key)) expect(recent.has(key)).toBe(false);
      }),
    );
  });
});
