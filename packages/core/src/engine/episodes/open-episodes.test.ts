import { describe, expect, it } from "vitest";
import { OpenEpisodes } from "./open-episodes.js";

describe("the open episodes", () => {
  it("let go of an episode's aliases with it, but not of those that another has taken", () => {
    const open = new OpenEpisodes({ limit: 10, ttl: 10 });
    const first = open.create("first", "default", 0);
    const second = open.create("second", "default", 0);
    open.addAliases(first, ["its own", "taken"]);
    open.addAliases(second, ["taken"]);
    open.remove(first);
    expect(open.find("default", "taken")).toBe(second);
    open.remove(second);
    // An alias that had stayed behind would lead to an episode that is open again.
    for (const id of ["first", "second"]) open.create(id, "default", 0);
    for (const alias of ["its own", "taken"]) expect(open.find("default", alias)).toBeUndefined();
  });

  it("do not hand back as overdue or oldest what is being written", () => {
    const open = new OpenEpisodes({ limit: 10, ttl: 10 });
    open.create("written", "default", 0).closing = Promise.resolve();
    const left = open.create("left", "default", 0);
    expect(open.overdue(100)).toEqual([left]);
    expect(open.oldest(2)).toEqual([left]);
  });

  it("hand back what is overdue also behind an episode from before the clock was set back", () => {
    const open = new OpenEpisodes({ limit: 10, ttl: 10 });
    const ahead = open.create("ahead", "default", 1_000);
    const left = open.create("left", "default", 0);
    expect(open.overdue(5)).toEqual([]);
    expect(open.overdue(16)).toEqual([ahead, left]);
  });
});
