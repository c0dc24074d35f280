import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.js";

function broken(now = 0): CircuitBreaker {
  const breaker = new CircuitBreaker();
  for (let i = 0; i < 5; i++) breaker.failed(now);
  return breaker;
}

describe("a circuit breaker", () => {
  it("admits everybody until five calls in a row have failed", () => {
    const breaker = new CircuitBreaker();
    for (let i = 0; i < 4; i++) expect(breaker.failed(0)).toBe(false);
    breaker.succeeded();
    for (let i = 0; i < 4; i++) expect(breaker.failed(0)).toBe(false);
    expect([breaker.admits(0), breaker.isOpen]).toEqual([true, false]);
    expect(breaker.failed(0)).toBe(true);
    expect([breaker.admits(0), breaker.isOpen]).toEqual([false, true]);
  });

  it("lets one call at a time try after a pause, and everybody once it has succeeded", () => {
    const breaker = broken();
    expect(breaker.admits(249)).toBe(false);
    expect([breaker.admits(250), breaker.admits(250), breaker.admits(9_999)]).toEqual([true, false, false]);
    expect(breaker.succeeded()).toBe(true);
    expect([breaker.admits(251), breaker.admits(251), breaker.isOpen]).toEqual([true, true, false]);
    expect(breaker.succeeded()).toBe(false);
  });

  it("doubles the pause with each failed try, up to four seconds", () => {
    const breaker = broken();
    let now = 0;
    const pauses: number[] = [];
    for (let i = 0; i < 7; i++) {
      const began = now;
      while (!breaker.admits(now)) now += 1;
      pauses.push(now - began);
      expect(breaker.failed(now)).toBe(false);
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
    breaker.succeeded();
    for (let i = 0; i < 5; i++) breaker.failed(now);
    expect([breaker.admits(now + 249), breaker.admits(now + 250)]).toEqual([false, true]);
  });

  it("does not take late failures of calls from before the pause for a failed try", () => {
    const breaker = broken();
    expect(breaker.failed(200)).toBe(false);
    expect(breaker.admits(250)).toBe(true);
  });

  it("ends the pause when the clock is set back", () => {
    const breaker = broken(1_000_000);
    expect(breaker.admits(10)).toBe(true);
  });

  it("after any history lets somebody through within four seconds, and closes on the first success", () => {
    const history = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 10_000 })), { maxLength: 60 });
    fc.assert(
      fc.property(history, (steps) => {
        const breaker = new CircuitBreaker();
        let now = 0;
        for (const [works, wait] of steps) {
          now += wait;
          if (!breaker.admits(now)) continue;
          if (works) breaker.succeeded();
          else breaker.failed(now);
        }
        expect(breaker.admits(now + 4_000)).toBe(true);
        breaker.succeeded();
        expect(breaker.admits(now)).toBe(true);
      }),
    );
  });
});
