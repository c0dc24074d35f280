import { describe, expect, it } from "vitest";
import { QavrError } from "../src/index.js";
import { forget } from "../src/maintenance/index.js";
import { withOutbox } from "../src/store-kit.js";
import { queueing, runs } from "./support/queueing.js";
import { oneRun, request, testEngine } from "./support/test-engine.js";

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

  it("that an earlier process left in the outbox can be corrected by the next one", async () => {
    const world = queueing();
    world.faults.commit = "before";
    const episode = await oneRun(world.engine, request(), { reward: true });
    const heir = testEngine({ store: withOutbox(world.inner, world.outbox), prefix: "heir" });
    expect(await heir.engine.report(episode, { reward: false })).toMatchObject({ status: "committed" });
    expect(await heir.engine.status()).toMatchObject({ outcomes: { user: 2 }, corrections: 1 });
  });

  it("that reaches the store while a report on its run looks for it is found", async () => {
    const world = queueing();
    const { engine, inner, faults, clock } = world;
    faults.commit = "before";
    const episode = await oneRun(engine, request(), { reward: true });
    faults.commit = "none";
    clock.now += 4_000;
    const next = await engine.rank(request());
    const { readStates } = inner;
    inner.readStates = async (...call) => {
      inner.readStates = readStates;
      const states = await readStates(...call);
      await engine.end(next.episode, { reward: true });
      return states;
    };
    expect(await engine.report(episode, { reward: false })).toMatchObject({ status: "committed" });
  });

  it("that another process put into the same outbox meanwhile is passed on by a report on its run, flush() and forget()", async () => {
    for (const pass of ["report", "flush", "forget"]) {
      const world = queueing();
      const other = testEngine({ store: withOutbox(world.inner, world.outbox), prefix: "other" });
      await runs(other, 1);
      world.faults.commit = "before";
      const episode = await oneRun(world.engine, request(), { reward: true });
      if (pass === "report") expect((await other.engine.report(episode, { reward: false })).status).toBe("committed");
      else if (pass === "flush") await other.engine.flush();
      else await forget(other.engine, { namespace: "default" });
      expect(world.outbox.waiting).toEqual([]);
    }
  });
});
