import { describe, expect, it } from "vitest";
import { nearIdenticalTo } from "./near-identical.js";

describe("near-identical texts", () => {
  it.each([
    ["How do I deploy the payment service?", "how do I deploy the payment service"],
    ["The export for tenant 17 fails with a timeout.", "The export for tenant 42 fails with a timeout."],
    ["reset the password for ana@example.com", "reset the password for bob@example.com"],
  ])("are %j and %j", (a, b) => {
    expect(nearIdenticalTo(a)(b)).toBe(true);
  });

  it.each([
    ["How do I deploy the payment service?", "How do I deploy the billing service?"],
    ["How do I deploy the payment service?", "To deploy the payment service run make deploy."],
    ["what is my favourite colour?", "my favourite colour is blue"],
    ["", "???"],
  ])("are not %j and %j", (a, b) => {
    expect(nearIdenticalTo(a)(b)).toBe(false);
  });
});
