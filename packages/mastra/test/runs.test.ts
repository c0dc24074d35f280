import type { RunSession } from "@qavr/core/adapter";
import { describe, expect, it } from "vitest";
import { type AgentRun, newRun } from "../src/runs/agent-run.js";
import { LaterVerdicts } from "../src/runs/later-verdicts.js";
import { Runs } from "../src/runs/runs.js";

const run = (episode: string): AgentRun =>
  newRun({
    session: {} as RunSession,
    episode,
    namespace: `ns-${episode}`,
    context: "default",
    threadId: "t",
    resourceId: undefined,
  });

describe("the runs under way", () => {
  it("are found by episode and, once it is known, by run id, until they end", () => {
    const runs = new Runs(10);
    const one = run("e1");
    runs.add(one, ["thread:t"]);
    expect(runs.ofRunId("r1", "t")).toBeUndefined();
    runs.identify(one, "r1");
    expect([runs.ofEpisode("e1"), runs.ofRunId("r1", "t")]).toEqual([one, one]);
    runs.remove(one);
    expect([runs.ofEpisode("e1"), runs.ofRunId("r1", "t"), runs.size]).toEqual([undefined, undefined, 0]);
  });

  it("leave their namespaces behind, for what is reported later", () => {
    const runs = new Runs(10);
    const one = run("e1");
    runs.add(one, ["thread:t"]);
    runs.identify(one, "r1");
    runs.remove(one);
    expect(["e1", "r1", "thread:t", "e2"].map((alias) => runs.namespaceOf(alias))).toEqual([
      "ns-e1",
      "ns-e1",
      "ns-e1",
      undefined,
    ]);
  });

  it("are bounded: the oldest are let go of, and so are their names", () => {
    const runs = new Runs(2);
    const all = ["e1", "e2", "e3"].map(run);
    for (const [at, one] of all.entries()) {
      runs.add(one, []);
      runs.identify(one, `r${at + 1}`);
    }
    expect(runs.size).toBe(2);
    expect(runs.ofRunId("r1", "t")).toBeUndefined();
    expect(runs.ofRunId("r3", "t")).toBe(all[2]);
    for (let at = 0; at < 20; at++) runs.add(run(`later-${at}`), []);
    expect(runs.namespaceOf("r1")).toBeUndefined();
  });
});

describe("the runs that wait for the verdict of a network or workflow", () => {
  it("are bounded: those that ended last are kept", () => {
    const later = new LaterVerdicts(2);
    const requestContext = {};
    const all = ["e1", "e2", "e3"].map((episode, size) => ({ ...run(episode), session: { size } as RunSession }));
    later.routes("t", requestContext);
    for (const one of all) later.ended(one, requestContext, Promise.resolve());
    const latest = all.slice(1).map(({ session }) => session);
    expect(later.takeWorkflow(requestContext).map(({ session }) => session)).toEqual(latest);
    expect(later.takeNetwork("t").map(({ session }) => session)).toEqual(latest);
    expect(later.takeNetwork("t")).toEqual([]);
  });

  it("are bounded in networks: those that routed last are kept", () => {
    const later = new LaterVerdicts(2);
    const requestContext = {};
    for (const threadId of ["t1", "t2", "t3"]) {
      later.routes(threadId, requestContext);
      later.ended({ ...run("e"), threadId }, requestContext, Promise.resolve());
    }
    expect(["t1", "t2", "t3"].map((threadId) => later.takeNetwork(threadId).length)).toEqual([0, 1, 1]);
  });
});
