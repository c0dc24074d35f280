import { type Learner, oar } from "@qavr/core";
import { expect, it } from "vitest";
import { testEngine } from "../../core/test/support/test-engine.js";
import { World } from "../../core/test/support/world.js";
import { beta } from "../src/beta.js";

/** Mean gain in held-out success over similarity after 600 runs of one kind of request. */
async function gain(learner: unknown): Promise<number> {
  const seeds = [1, 2, 3, 4];
  let sum = 0;
  for (const seed of seeds) {
    const world = new World({ seed, narrow: true });
    const { engine } = testEngine({ learner: learner as Learner });
    await world.live(engine, 600);
    const { learned, similarity } = await world.evaluate(engine);
    sum += learned - similarity;
  }
  return sum / seeds.length;
}

it("the default learner is at most 0.03 behind counting where all requests are of one kind", async () => {
  expect(await gain(oar())).toBeGreaterThan((await gain(beta())) - 0.03);
});
