import { describe, expect, it } from "vitest";
import { ATTACKS, type Attack, QUICK } from "../src/attacks/attacks.js";
import { MANIPULATED_STREAM } from "../src/attacks/manipulated-stream.js";
import { LAYERS, type Layer } from "../src/attacks/world.js";

const layer = (name: string): Layer => LAYERS.find((one) => one.name === name) as Layer;
const attack = (id: string): Attack => ATTACKS.find((one) => one.id === id) as Attack;

describe("an attacked application", () => {
  it.each([...ATTACKS, MANIPULATED_STREAM])("with every layer keeps the promise of $id: $title", async ({ run }) => {
    expect(await run(layer("all three"), QUICK, 1)).toMatchObject({ held: true });
  });

  it.each(["S1", "S2", "S3", "S4", "S5", "S26"])(
    "without any layer loses to %s, so the simulation can see it",
    async (id) => {
      expect(await attack(id).run(layer("nothing"), QUICK, 1)).toMatchObject({ held: false });
    },
  );

  it("is bought by a crowd of made-up sources in spite of caps, and not in spite of trust", async () => {
    expect(await attack("S4").run(layer("caps"), QUICK, 1)).toMatchObject({ held: false });
    expect(await attack("S4").run(layer("trust"), QUICK, 1)).toMatchObject({ held: true });
  });
});
