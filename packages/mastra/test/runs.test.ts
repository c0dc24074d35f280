import type { RunSession } from "@qavr/core/adapter";
import { describe, expect, it } from "vitest";
import { AgentRun } from "../src/runs/agent-run.js";
import { LaterVerdicts } from "../src/runs/later-verdicts.js";
import { notedRun } from "../src/runs/run-lifecycle.js";
import { Runs } from "../src/runs/runs.js";

const run = (episode: string, fields: Partial<AgentRun> = {}): AgentRun => {
  const scope = { namespace: `ns-${episode}`, context: "default", threadId: "t", resourceId: undefined };
  const session = { episodes: async () => [{ episode, namespace: scope.namespace }] } as unknown as RunSession;
  return Object.assign(new AgentRun({ session, episode, ...scope }), fields);
};

describe("the runs under way", () => {
  it("are found by episode and run id until they end, and leave their namespaces behind for later reports", () => {
    const runs = new Runs(10);
    const one = run("e1");
    runs.add(one, ["thread:t"]);
    expect(runs.ofRunId("r1", "t")).toBeUndefined();
    runs.identify(one, "r1");
    expect([runs.ofEpisode("e1"), runs.ofRunId("r1", "t")]).toEqual([one, one]);
    runs.remove(one);
    expect([runs.ofEpisode("e1"), runs.ofRunId("r1", "t"), runs.size]).toEqual([undefined, undefined, 0]);
    const known = ["e1", "r1", "thread:t", "e2"].map((alias) => runs.namespaceOf(alias));
    expect(known).toEqual(["ns-e1", "ns-e1", "ns-e1", undefined]);
  });

  it("take no other run's names with them: that of a resumed run, of a later one on the thread, or one that looks alike", () => {
    const runs = new Runs(10);
    const [suspended, resumed, later] = [run("e1"), run("e1", { resumed: true }), run("e2", { expectedAs: "r2" })];
    for (const one of [suspended, resumed]) {
      runs.add(one, []);
      runs.identify(one, "r1");
    }
    runs.remove(suspended);
    expect([runs.ofEpisode("e1"), runs.ofRunId("r1", "t")]).toEqual([resumed, resumed]);
    runs.add(later, []);
    runs.remove(resumed);
    expect([runs.latestOn("t"), runs.ofRunId("r2", "t")]).toEqual(["e2", later]);
    runs.identify(later, "r3");
    runs.remove(later);
    expect(runs.ofRunId("r2", "t")).toBeUndefined();
    const [ended, alike] = [run("e3", { threadId: "bc", ended: true }), run("e4", { threadId: "c" })];
    runs.identify(ended, "a");
    runs.identify(alike, "ab");
    expect([runs.ofRunId("a", "bc"), runs.episodeOf("a", "bc"), runs.ofRunId("ab", "c")]).toEqual([
      undefined,
      "e3",
      alike,
    ]);
  });

  it("are found by a request context on their own thread and resource alone, since a client may have filled it", () => {
    const [shared, one] = [{ runs: new Runs(10) }, run("e1", { resourceId: "ann" })];
    shared.runs.add(one, []);
    const owners = [
      ["t", "ann"],
      ["t", "bob"],
      ["u", "ann"],
    ].map(([threadId, resourceId]) => ({ threadId, resourceId }));
    const context = new Map([["qavr", { episode: "e1" }]]);
    const found = owners.map((owner) => notedRun({ shared } as never, owner, context));
    expect(found).toEqual([one, undefined, undefined]);
  });

  it("may share a run id on several threads, which then names none of them", () => {
    const runs = new Runs(10);
    for (const threadId of ["t", "t", "u"]) {
      expect(runs.isShared("r")).toBe(false);
      const one = run(threadId, { threadId, resumed: true });
      runs.add(one, []);
      runs.identify(one, "r");
      runs.remove(one);
    }
    expect(runs.isShared("r")).toBe(true);
  });

  it("are bounded: the oldest are let go of, and so are their names", () => {
    const runs = new Runs(2);
    const all = ["e1", "e2", "e3"].map((episode) => run(episode));
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
  it("are bounded: those that ended last are kept", async () => {
    const later = new LaterVerdicts(2);
    const requestContext = {};
    const episodesOf = async (ended: ReturnType<LaterVerdicts["takeWorkflow"]>) =>
      (await Promise.all(ended.map(({ episodes }) => episodes))).flat().map(({ episode }) => episode);
    later.routes("t", requestContext);
    for (const episode of ["e1", "e2", "e3"]) later.ended(run(episode), requestContext, Promise.resolve());
    expect(await episodesOf(later.takeWorkflow(requestContext))).toEqual(["e2", "e3"]);
    expect(await episodesOf(later.takeNetwork("t"))).toEqual(["e2", "e3"]);
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
