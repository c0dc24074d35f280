import { describe, expect, it } from "vitest";
import { allowsSharedWal, parseSqliteVersion } from "../src/sqlite-version.js";

describe("parseSqliteVersion", () => {
  it("reads major, minor and patch, and nothing else", () => {
    expect(parseSqliteVersion("3.51.3")).toEqual([3, 51, 3]);
    expect(parseSqliteVersion("3.47.2 2024-12-07")).toEqual([3, 47, 2]);
    expect(parseSqliteVersion("three")).toBeUndefined();
    expect(parseSqliteVersion("3.51")).toBeUndefined();
  });
});

describe("allowsSharedWal", () => {
  it.each(["3.51.3", "3.51.10", "3.52.0", "3.100.0", "4.0.0"])("accepts %s, which has the fix", (version) => {
    expect(allowsSharedWal(version)).toBe(true);
  });

  it.each(["3.7.0", "3.47.2", "3.51.2", "3.9.9", "2.99.99", "", "unknown"])("refuses %j", (version) => {
    expect(allowsSharedWal(version)).toBe(false);
  });
});
