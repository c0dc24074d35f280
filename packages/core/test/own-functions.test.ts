import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryStore } from "../src/index.js";
import { request, testEngine, testEpisode } from "./support/test-engine.js";

const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);

describe("an application's own function", () => {
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it.each(["reject", "throw"])("for logs may fail by and by: it costs nobody anything (%s)", async (how) => {
    const fail = (): unknown => {
      if (how === "throw") throw new Error("the log is down");
      return Promise.reject(new Error("the log is down"));
    };
    const logger = { debug: fail, info: fail, warn: fail, error: fail } as never;
    const failing = { ...memoryStore(), readStates: () => Promise.reject(new Error("down")) };
    const { engine } = testEngine({ store: failing, logger });
    expect((await engine.rank(request())).degraded).toMatchObject({ code: "STORE_FAILED" });
  });

  it.each([new Date(), Number.NaN, "2026-11-22", undefined])("for the time may not give %s", async (time) => {
    const { engine } = testEngine({ clock: () => time as never });
    await expect(engine.rank(request())).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("clock must give Unix ms"),
    });
    expect(engine.health().openEpisodes).toBe(0);
  });

  it.each([undefined, null, 7, "", "\ud800"])("for ids may not give %j", async (id) => {
    const { engine } = testEngine({ createId: () => id as never });
    await expect(engine.rank(request())).rejects.toMatchObject({ code: "INVALID_ID" });
    expect(() => engine.open()).toThrowError(expect.objectContaining({ code: "INVALID_ID" }));
  });

  it("for ids may not give that of an open episode, which would be lost without a word", async () => {
    const { engine, episode } = await testEpisode({}, { createId: () => "thread-1" });
    await expect(engine.rank(request())).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(() => engine.open()).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect((await engine.explain(episode))?.exposures).toHaveLength(1);
  });

  it("for ids may give what another namespace has: each episode is explained for what it is", async () => {
    const { engine } = testEngine({ createId: () => "conversation" });
    await engine.rank(request({ namespace: "ada" }));
    await engine.end("conversation", undefined, { namespace: "ada" });
    await engine.rank(request({ namespace: "bob" }));
    for (const [namespace, state] of [
      ["ada", "ended"],
      ["bob", "open"],
    ] as const) {
      expect(await engine.explain("conversation", { namespace })).toMatchObject({ namespace, state });
    }
  });

  it("for ids may give what another namespace has: what that has open is not resumed in its place", async () => {
    const { engine } = testEngine({ createId: () => "conversation" });
    await engine.rank(request({ namespace: "ada" }));
    await engine.suspend("conversation", { alias: "thread" });
    await engine.rank(request({ namespace: "bob" }));
    await expect(engine.resume("thread", { namespace: "ada" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await engine.end("conversation", undefined, { namespace: "bob" });
    expect(await engine.resume("thread", { namespace: "ada" })).toBe("conversation");
  });
});
