import { expect, it } from "vitest";
import { sigmoid } from "./bounds.js";

it("sigmoid saturates without overflow or NaN", () => {
  expect([sigmoid(1_000), sigmoid(-1_000)]).toEqual([1, 0]);
});
