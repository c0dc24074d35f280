import { describe, expect, it } from "vitest";
import { QavrError } from "../src/index.js";
import { queueing, runs } from "./support/queueing.js";

describe("an outcome in the outbox", () => {
  it("is queued, and sent again from the outbox, where a commit may have been kept", async () => {
    const world = queueing();
    const { engine, inner, outbox } = world;
    const { commit } = inner;
    let unknown = 3;
    inner.commit = async (...call) => {
      const receipts = await commit(...call);
      if (unknown-- > 0) throw new QavrError("STORE_COMMIT_UNKNOWN", "The connection was lost during a commit.");
      return receipts;
    };
    expect(await runs(world, 3)).toEqual(["queued", "queued", "queued"]);
    await engine.flush();
    expect(outbox.waiting).toEqual([]);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 3 }, corrections: 0, seq: 6 });
  });
});
