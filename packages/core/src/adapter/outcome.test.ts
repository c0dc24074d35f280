import { describe, expect, it } from "vitest";
import { type Outcome, toOutcomeInput } from "./outcome.js";

const asIs = (name: string): string => name;

describe("an outcome in an application's words", () => {
  it.each([undefined, null, true, "yes", [true], Promise.resolve({ success: true }), new Map([["success", true]])])(
    "is refused when it is %s: nothing would be heard of it",
    (outcome) => {
      expect(() => toOutcomeInput(outcome as never, asIs)).toThrowError(
        expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining("must be an object") }),
      );
    },
  );

  it("is heard also where its fields come from a class", () => {
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
