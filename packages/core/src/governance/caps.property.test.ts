import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { charge, MEMORIES_PER_WINDOW, type Spending } from "./caps.js";

const fresh = (): Spending => ({ window: 0, weights: new Map() });
const call = fc.record({
  memory: fc.nat(3),
  weight: fc.constantFrom(0.1, 0.3, 0.5, 1),
  at: fc.nat(5_000),
});

describe("charge", () => {
  it("never lets a source credit a memory beyond the cap within one window", () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 80 }), fc.constantFrom(0.5, 1, 3), (calls, weight) => {
        const spending = fresh();
        const sums = new Map<string, number>();
        let reached = 0;
        for (const { memory, weight: amount, at } of calls) {
          reached = Math.max(reached, Math.floor(at / 1_000));
          const accepted = charge(spending, { weight, window: 1_000 }, memory, amount, at);
          const key = `${reached} ${memory}`;
          const sum = (sums.get(key) ?? 0) + amount;
          // A weight that fits is accepted; one that does not is refused and leaves room for a smaller one.
          expect(accepted).toBe(sum <= weight + 1e-6);
          if (accepted) sums.set(key, sum);
        }
        expect(spending.weights.size).toBeLessThanOrEqual(4);
      }),
      { numRuns: 300 },
    );
  });

  it("fills a cap of 1 with ten tenths", () => {
    const spending = fresh();
    const cap = { weight: 1, window: 1_000 };
    for (let i = 0; i < 10; i++) expect(charge(spending, cap, 7, 0.1, 5)).toBe(true);
    expect(charge(spending, cap, 7, 0.1, 5)).toBe(false);
  });

  it("begins anew with the next window, and does not go back to one that is over", () => {
    const spending = fresh();
    const cap = { weight: 1, window: 1_000 };
    expect(charge(spending, cap, 7, 1, 999)).toBe(true);
    expect(charge(spending, cap, 7, 1, 1_000)).toBe(true);
    expect(charge(spending, cap, 7, 1, 999)).toBe(false);
  });

  it("stays small: beyond a thousand memories in one window it refuses new ones", () => {
    const spending = fresh();
    const cap = { weight: 2, window: 1_000 };
    for (let memory = 0; memory < MEMORIES_PER_WINDOW; memory++) {
      expect(charge(spending, cap, memory, 1, 0)).toBe(true);
    }
    expect(charge(spending, cap, MEMORIES_PER_WINDOW, 1, 0)).toBe(false);
    expect(charge(spending, cap, 0, 1, 0)).toBe(true);
    expect(spending.weights.size).toBe(MEMORIES_PER_WINDOW);
  });
});
