import { describe, expect, it } from "vitest";
import { testServer } from "../test/support/server.js";
import { surviveKills } from "../test/support/server-kills.js";

const server = await testServer({ fsync: "on" });

const KILLS = 100;

describe("a server killed with SIGKILL while outcomes are recorded", () => {
  it(`has lost no acknowledged outcome and counts none twice, in ${KILLS} kills`, async () => {
    const tally = await surviveKills(server, KILLS);
    console.info(tally);
    expect(tally.acknowledged).toBeGreaterThan(10 * KILLS);
  });
});
