import { UsageError } from "@qavr/lab";
import { describe, expect, it } from "vitest";
import { parseOptions } from "../src/options.js";

describe("the command line", () => {
  it("asks for one seed and 3,000 runs when nothing is said", () => {
    expect(parseOptions([])).toEqual({ seeds: 1, runs: 3000, colour: true, json: false, plot: undefined, help: false });
  });

  it("takes every option, also behind a bare --", () => {
    expect(
      parseOptions(["--", "--seeds", "8", "--runs=60", "--no-color", "--json", "--plot", "a.svg", "--help"]),
    ).toEqual({
      seeds: 8,
      runs: 60,
      colour: false,
      json: true,
      plot: "a.svg",
      help: true,
    });
  });

  it.each([
    [["--seed", "8"], "--seed"],
    [["--seeds", "0"], "--seeds must be a whole number from 1 to 100. Received 0."],
    [["--runs", "many"], "--runs must be a whole number from 20 to 6000. Received many."],
    [["--runs", "2.5"], "Received 2.5."],
    [["--seeds"], "--seeds"],
    [["extra"], "extra"],
  ])("refuses %j and says what and where to look", (args, message) => {
    expect(() => parseOptions(args)).toThrow(UsageError);
    expect(() => parseOptions(args)).toThrow(message);
    expect(() => parseOptions(args)).toThrow("See pnpm demo --help.");
  });
});
