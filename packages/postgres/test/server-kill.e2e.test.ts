import { describe, expect, it } from "vitest";
import { testServer } from "./support/server.js";
import { surviveKills } from "./support/server-kills.js";

const server = await testServer();

describe("a server killed with SIGKILL while outcomes are recorded", () => {
  it("has lost no acknowledged outcome and counts none twice, in 6 kills", async () => {
    const { kills, acknowledged } = await surviveKills(server, 6);
    expect(kills).toBe(6);
    expect(acknowledged).toBeGreaterThan(60);
  });
});
