import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import { memoryStore } from "../src/index.js";
import { testEngine } from "./support/test-engine.js";
import { World } from "./support/world.js";

const SEEDS = [1, 2];
const RUNS = 800;

/** Gain in success on held-out requests, mean over the seeds. */
async function gain(lying: number, verified: number, trust: "off" | "audited", runs: number = RUNS): Promise<number> {
  let sum = 0;
  for (const seed of SEEDS) {
    const world = new World({ seed, claims: { lying, verified } });
    const { engine } = testEngine({ store: memoryStore(), governance: governance({ trust }) });
    await world.live(engine, runs);
    const { learned, similarity } = await world.evaluate(engine);
    sum += learned - similarity;
  }
  return sum / SEEDS.length;
}

describe("audited trust, in a world of ten sources and few verdicts", () => {
  it("learns from the honest half where everybody's word together says nothing", async () => {
    const [off, audited] = [await gain(5, 0.07, "off"), await gain(5, 0.07, "audited")];
    expect(audited).toBeGreaterThan(off + 0.08);
  });

  it("does no harm when all but two lie", async () => {
    const [off, audited] = [await gain(8, 0.07, "off"), await gain(8, 0.07, "audited")];
    expect(off).toBeLessThan(0);
    expect(audited).toBeGreaterThan(0);
  });

  it("costs little when everybody is honest", async () => {
    const [off, audited] = [await gain(0, 0.07, "off"), await gain(0, 0.07, "audited")];
    expect(audited).toBeGreaterThan(0.8 * off);
  });

  it("learns nothing at all while nobody is verified", async () => {
    expect(await gain(0, 0, "audited", 200)).toBe(0);
  });
});
