import { describe, expect, it } from "vitest";
import { expectExactCounts } from "../test/support/exact-counts.js";
import { testServer } from "../test/support/server.js";

const server = await testServer({ fsync: "on" });

const PROCESSES = 4;
const OUTCOMES = 10_000;

describe("four processes on one namespace", () => {
  it("count 10,000 outcomes each exactly once, although two of them send every one, without a deadlock", async () => {
    const started = performance.now();
    await expectExactCounts(server, PROCESSES, OUTCOMES);
    console.info({ outcomes: PROCESSES * OUTCOMES, seconds: Math.round((performance.now() - started) / 1_000) });
    expect.hasAssertions();
  });
});
