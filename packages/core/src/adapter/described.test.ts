import { describe, expect, it } from "vitest";
import { describedSearch, placesWithin, withinBudget } from "./described.js";

describe("described things", () => {
  const things = [
    { name: "rates", description: "money exchange" },
    { name: "post", description: "sends a letter" },
    { name: "mail", description: "sends a letter" },
    { name: "empty", description: "" },
  ];

  it("are found by the words that they share with a request, equal ones in their own order", () => {
    const search = describedSearch();
    const found = search(things, "send the letters");
    expect(
      found
        .slice(0, 2)
        .map(({ text }) => text)
        .sort(),
    ).toEqual(["mail: sends a letter", "post: sends a letter"]);
    expect(search(things, "send the letters")).toEqual(found);
    expect(search(things, "").map(({ id }) => id)).toEqual(things.map(({ name }) => name));
  });

  it("fit into a budget in their order, a shorter one behind a long one, and at least one place is planned", () => {
    expect(withinBudget([50, 20, 10], 35, (size) => size)).toEqual([20, 10]);
    expect(placesWithin([50, 20, 20], 35)).toBe(1);
    expect(placesWithin([10, 20, 30], 45)).toBe(2);
    expect(placesWithin([10, 20, 30], 5)).toBe(1);
    expect(placesWithin([10, 20, 30], 500)).toBe(3);
  });
});
