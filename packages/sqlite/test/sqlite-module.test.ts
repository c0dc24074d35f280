import { describe, expect, it, vi } from "vitest";
import { loadSqlite, sqliteVersion } from "../src/sqlite-module.js";
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
});
