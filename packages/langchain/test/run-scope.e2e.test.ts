import type { Callbacks } from "@langchain/core/callbacks/manager";
import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import { type Bench, bench, credit, RUN_ID } from "./support/bench.js";
import { ids, only } from "./support/corpus.js";
import { fewShot } from "./support/few-shot.js";
import { graph } from "./support/graph.js";
import { retrieving } from "./support/retrieving.js";

/** A tracked run that is shown one memory in each of several namespaces. */
function showingIn({ memory, vectors }: Pick<Bench, "memory" | "vectors">, shown: Readonly<Record<string, string>>) {
  const retrievers = Object.entries(shown).map(([namespace, id]) =>
    memory.retriever(vectors, { k: 1, namespace, filter: only(id) }),
  );
  return memory.track(
    RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      for (const retriever of retrievers) await retriever.invoke(question, config);
    }),
  );
}

describe("scope", () => {
  it("comes from the root run's metadata, which a retriever's own metadata cannot shadow", async () => {
    const { memory, vectors } = await bench();
    const retriever = memory.retriever(vectors, { k: 2, metadata: { qavr_namespace: "local" } });
    const chain = retrieving({ memory, retriever });
    await chain.invoke("payment queue stuck", {
      metadata: { qavr_namespace: "acme", qavr_context: "ops" },
      runId: RUN_ID,
    });
    expect(await credit(memory, "acme")).toEqual({ restart: 1, scale: 1 });
    expect(await credit(memory, "local")).toEqual({});
    expect(await credit(memory)).toEqual({});
    expect((await memory.explain(RUN_ID))?.exposures[0]?.context).toBe("ops");
  });

  it("is the caller's also for a bare retrieval that nobody tracks", async () => {
    const { memory, vectors } = await bench();
    const retriever = memory.retriever(vectors, { k: 2, metadata: { qavr_namespace: "local" } });
    await retriever.invoke("payment", { metadata: { qavr_namespace: "acme" }, runId: RUN_ID });
    expect(await memory.explain(RUN_ID, { namespace: "acme" })).toMatchObject({ state: "ended" });
    expect(await memory.explain(RUN_ID, { namespace: "local" })).toBeUndefined();
  });

  it("is the caller's also for a recall in a graph that nobody watches", async () => {
    const { memory, vectors } = await bench();
    const run = graph({ retriever: memory.retriever(vectors) }, async ({ question }) => {
      const { episode } = await memory.recall(vectors, question, { k: 2 });
      await episode.report({ success: true });
      return {};
    }).compile();
    await run.invoke({ question: "payment queue stuck" }, { metadata: { qavr_namespace: "acme" } });
    expect(await credit(memory, "acme")).toEqual({ restart: 1, scale: 1 });
    expect(await credit(memory)).toEqual({});
  });

  it("is what a function makes of the root's input, metadata and tags, whatever a part says in its own", async () => {
    const seen: unknown[] = [];
    const { memory, retriever } = await bench({
      namespace: ({ input, tags, metadata }) => {
        seen.push({ input, tags: [...tags] });
        return `tenant:${metadata.tenant}`;
      },
    });
    const part = RunnableLambda.from((question: string, config: RunnableConfig) =>
      retriever.invoke(question, config),
    ).withConfig({ metadata: { tenant: "part" }, tags: ["part"] });
    const chain = RunnableLambda.from((question: string, config: RunnableConfig) => part.invoke(question, config));
    await memory.track(chain).invoke("payment queue stuck", {
      metadata: { tenant: "root", qavr_namespace: "ignored" },
      tags: ["prod"],
    });
    expect(await credit(memory, "tenant:root")).toEqual({ restart: 1, scale: 1 });
    expect(seen.length).toBeGreaterThan(0);
    for (const info of seen) expect(info).toEqual({ input: "payment queue stuck", tags: ["prod"] });
  });

  it("has the context that a part of the run names, as a router does, and the root's namespace", async () => {
    const { memory, retriever, vectors } = await bench();
    const named = (context: string) => ({ metadata: { qavr_context: context, qavr_namespace: "part" } });
    const exampleSelector = memory.exampleSelector(vectors, { k: 1 });
    const prompt = fewShot(exampleSelector, "{kind}");
    const chain = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await retriever.invoke(question, config);
      await retriever.invoke(question, { ...config, ...named("deploy") });
      await retriever
        .pipe(ids)
        .withConfig(named("billing"))
        .invoke(question, { callbacks: config.callbacks as Callbacks });
      await prompt.invoke({ question }, { ...config, ...named("prompt") });
    });
    await memory.track(chain).invoke("payment queue stuck", { metadata: { qavr_context: "ops" }, runId: RUN_ID });
    const contexts = (await memory.explain(RUN_ID))?.exposures.map(({ context }) => context);
    expect(contexts).toEqual(["ops", "deploy", "billing", "prompt"]);
  });

  it.each([
    ["a retriever's own name goes before the memory's", "its own", {}, "its own"],
    ["a run's metadata goes before the memory's fixed name", undefined, { qavr_namespace: "acme" }, "acme"],
  ])("may be named in several places: %s", async (_what, namespace, metadata, expected) => {
    const { memory, vectors } = await bench({ namespace: "the memory's" });
    const retriever = memory.retriever(vectors, { k: 1, ...(namespace ? { namespace } : {}) });
    await retrieving({ memory, retriever }).invoke("payment queue stuck", { metadata });
    expect(await credit(memory, expected)).toEqual({ restart: 1 });
    expect(await credit(memory, "the memory's")).toEqual({});
  });

  it("gives each namespace the verdict's votes on the memories that it showed", async () => {
    const { memory, vectors, codes } = await bench({
      evaluate: () => ({ success: true, helpful: ["restart"], harmful: ["scale"], neutral: ["clear"] }),
    });
    const shown = { docs: "restart", chats: "scale", mails: "clear" };
    await showingIn({ memory, vectors }, shown).invoke("payment queue stuck");
    expect(await credit(memory, "docs")).toEqual({ restart: 1 });
    expect(await credit(memory, "chats")).toEqual({ scale: -1 });
    expect(codes()).not.toContain("OUTCOME_NOT_RECORDED");
  });

  it("gives each namespace a report on the run, with the votes on the memories that it showed", async () => {
    const { memory, vectors } = await bench();
    const run = showingIn({ memory, vectors }, { docs: "restart", chats: "scale" });
    await run.invoke("payment queue stuck", { runId: RUN_ID });
    expect((await memory.report(RUN_ID, { success: false })).status).toBe("committed");
    for (const namespace of ["docs", "chats"]) {
      expect((await memory.explain(RUN_ID, { namespace }))?.outcome).toMatchObject({ reward: 0, tier: "user" });
    }
    await memory.report(RUN_ID, { helpful: ["scale"] });
    expect(await credit(memory, "docs")).toEqual({ restart: -1 });
    expect(await credit(memory, "chats")).toEqual({ scale: 1 });
    await expect(memory.report(RUN_ID, { helpful: ["made-up"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
  });

  it("gives each memory a handle of its own, also where a run retrieves from two namespaces in turn", async () => {
    const { memory, vectors } = await bench();
    const showing = (namespace: string, id: string) => memory.retriever(vectors, { k: 1, namespace, filter: only(id) });
    const retrievers = [showing("docs", "restart"), showing("chats", "scale"), showing("docs", "clear")];
    const run = memory.track(
      RunnableLambda.from(async (question: string, config: RunnableConfig) => {
        const shown = [];
        for (const retriever of retrievers) shown.push(...(await retriever.invoke(question, config)));
        return memory.format(shown);
      }),
    );
    const handles = (await run.invoke("payment queue stuck", { runId: RUN_ID })).match(/m\d+(?=\])/g) ?? [];
    expect(new Set(handles).size).toBe(3);
    await memory.report(RUN_ID, { harmful: [handles[1] as string] });
    expect(await credit(memory, "docs")).toEqual({ restart: 1, clear: 1 });
    expect(await credit(memory, "chats")).toEqual({ scale: -1 });
  });

  it("refuses a verdict that names a memory which no namespace showed, and still records what was shown", async () => {
    const { memory, vectors, codes } = await bench({
      evaluate: () => ({ success: true, helpful: ["restart", "made-up"] }),
    });
    await showingIn({ memory, vectors }, { docs: "restart", chats: "scale" }).invoke("payment queue stuck");
    await memory.flush();
    expect(codes()).toContain("OUTCOME_NOT_RECORDED");
    for (const namespace of ["docs", "chats"]) {
      expect((await memory.status({ namespace })).episodes.recorded).toBe(1);
      expect(await credit(memory, namespace)).toEqual({});
    }
  });

  it("never falls back to a shared namespace when its function fails", async () => {
    const { memory, retriever, codes } = await bench({ namespace: () => "" });
    const chain = retrieving({ memory, retriever });
    expect(await chain.invoke("payment queue stuck")).toHaveLength(2);
    expect(codes()).toContain("RANKING_FAILED");
    expect((await memory.status({ namespace: "default" })).episodes.recorded).toBe(0);
  });

  it("is a retriever's own also on a thread, where the memory's function fails", async () => {
    const { memory, vectors, codes } = await bench({ namespace: ({ metadata }) => (metadata.tenant as string).trim() });
    const run = showingIn({ memory, vectors }, { docs: "restart" });
    await run.invoke("payment queue stuck", { metadata: { thread_id: "T1" } });
    expect(await credit(memory, "docs")).toEqual({ restart: 1 });
    expect(codes()).toEqual([]);
  });
});
