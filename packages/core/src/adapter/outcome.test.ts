import { describe, expect, it } from "vitest";
import { createEngine } from "../engine/create-engine.js";
import { memoryStore } from "../store/memory-store.js";
import { type Outcome, toOutcomeInput } from "./outcome.js";
import { createRunKit } from "./run-kit.js";

const asIs = (name: string): string => name;
const engine = createEngine({ store: memoryStore() });
const kit = createRunKit({ engine, logger: undefined, onError: "open", storable: asIs });
const target = { reference: "run", namespace: "default", isUnshown: true };

describe("an outcome in an application's words", () => {
  it.each([undefined, null, true, "yes", [true], Promise.resolve({ success: true }), new Map([["success", true]])])(
    "is refused when it is %s",
    async (outcome) => {
      await expect(kit.report(target, outcome as never)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("an object is needed"),
      });
    },
  );

  it.each([{ sucess: true }, { helpful: "m1" }, { used: [7] }])(
    "is refused by the engine when it is %j",
    async (outcome) => {
      await expect(kit.report(target, outcome as never)).rejects.toMatchObject({
        code: expect.stringMatching("^INVALID_"),
      });
    },
  );

  it("is read also where its fields come from a class", () => {
    class Judged {
      get reward(): number {
        return 0.5;
      }
      get helpful(): readonly string[] {
        return ["a"];
      }
    }
    expect(toOutcomeInput(new Judged() as Outcome, asIs)).toEqual({ reward: 0.5, helpful: ["a"] });
  });
});
