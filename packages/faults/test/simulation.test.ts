import { describe, expect, it } from "vitest";
import { simulate } from "../src/simulation/simulate.js";
import { VirtualTime } from "../src/simulation/virtual-time.js";

describe("a simulated history", () => {
  it("is the same for the same seed, and another for another", async () => {
    const [one, again, other] = [await simulate(7), await simulate(7), await simulate(8)];
    expect(again).toEqual(one);
    expect(other.trace).not.toBe(one.trace);
  });

  it("has crashes, retries, queued outcomes and degraded rankings in it", async () => {
    const histories = [];
    for (let seed = 1; seed <= 10; seed++) histories.push(await simulate(seed));
    for (const what of ["crashes", "retries", "queued", "degraded"] as const) {
      expect(histories.reduce((sum, history) => sum + history[what], 0)).toBeGreaterThan(0);
    }
  });

  it("says so when somebody waits for ever", async () => {
    const time = new VirtualTime();
    await expect(time.until(new Promise(() => undefined), 1_000)).rejects.toThrow("waits for ever");
    void time.sleep(5_000);
    await expect(time.until(new Promise(() => undefined), 1_000)).rejects.toThrow("waits for ever, at 0 ms");
  });

  it("lets time pass in order, and failures through", async () => {
    const time = new VirtualTime();
    const seen: number[] = [];
    const all = Promise.all([30, 10, 20].map((ms) => time.sleep(ms).then(() => seen.push(time.now))));
    await time.until(all, 1_000);
    expect(seen).toEqual([10, 20, 30]);
    await expect(time.until(Promise.reject(new Error("broken")), 1_000)).rejects.toThrow("broken");
  });
});
