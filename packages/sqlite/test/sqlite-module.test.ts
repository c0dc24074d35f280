import { describe, expect, it, vi } from "vitest";
import { allowsSharedWal, loadSqlite, parseSqliteVersion, sqliteVersion } from "../src/sqlite-module.js";
import { refusalOf } from "./support/refusal.js";

describe("loadSqlite", () => {
  it("loads Node's own binding", () => {
    expect(sqliteVersion(loadSqlite())).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("holds back the one warning that loading prints on older versions of Node, and no other", () => {
    const heard = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { emitWarning } = process;
    const loading = vi.spyOn(process, "getBuiltinModule").mockImplementation(() => {
      process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      process.emitWarning("Something else is experimental", "ExperimentalWarning");
      return {};
    });
    loadSqlite();
    expect(heard.mock.calls).toEqual([["Something else is experimental", "ExperimentalWarning"]]);
    expect(process.emitWarning).toBe(emitWarning);
    loading.mockRestore();
    heard.mockRestore();
  });

  it("says which Node to use when there is no binding", () => {
    const loading = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    const refusal = refusalOf(() => loadSqlite());
    loading.mockRestore();
    expect(refusal).toMatchObject({ code: "STORE_UNAVAILABLE", details: { node: process.version } });
    expect(refusal.message).toContain("22.13");
  });

  it("says so on a Node before 20.16, too, which has no getBuiltinModule", () => {
    const { getBuiltinModule } = process;
    Object.assign(process, { getBuiltinModule: undefined });
    try {
      expect(refusalOf(() => loadSqlite()).code).toBe("STORE_UNAVAILABLE");
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
  });
});

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
