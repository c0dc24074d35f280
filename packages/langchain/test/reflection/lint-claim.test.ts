import { describe, expect, it } from "vitest";
import { lintClaim } from "../../src/reflection/index.js";

const rules = (claim: string): string[] => lintClaim(claim).map(({ rule }) => rule);

describe("lintClaim", () => {
  it.each([
    "In the orders table of billing, user_id is a string and not INT64 - joins with users fail without a cast",
    "The GitHub search API allows 30 requests a minute - batch lookups must wait in between",
    "Restart the payment worker before clearing its queue, because the worker writes the queue back when it stops",
    "This repository builds with pnpm 12 - npm install leaves the workspace links out",
    "支払いワーカーを止めてからキューを空にする - 先に空にするとワーカーが書き戻す",
  ])("R5: finds nothing wrong with what stands on its own: %s", (claim) => {
    expect(lintClaim(claim)).toEqual([]);
  });

  it.each([
    ["user_id is INT64", "too-short"],
    ["API has rate limit", "too-short"],
    ["", "too-short"],
    ["The task was successful", "outcome-only"],
    ["The request to restart the service failed.", "outcome-only"],
    ["It failed when the queue of the payment service was full - clear it", "dangling-reference"],
    ["This is the wrong table for joins with users - use another one", "dangling-reference"],
    ["The payment service has the limit mentioned, see above - wait in between", "dangling-reference"],
    [`In the orders table ${"x ".repeat(400)} - long`, "too-long"],
  ])("R5: finds an error in: %s", (claim, rule) => {
    expect(lintClaim(claim)).toContainEqual(expect.objectContaining({ rule, severity: "error", claim }));
  });

  it("R5: warns of a claim without a reason, which may be kept", () => {
    expect(lintClaim("The deploy script of the shop runs in the folder infra")).toEqual([
      {
        claim: "The deploy script of the shop runs in the folder infra",
        rule: "no-reason",
        severity: "warning",
        advice: expect.stringContaining("why"),
      },
    ]);
    expect(rules("The task was successful")).toContain("too-short");
  });

  it("refuses what is no text, such as a claim of another form in a model's answer", () => {
    for (const claim of [undefined, 7, { claim: "text" }]) {
      expect(() => lintClaim(claim as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });
});
