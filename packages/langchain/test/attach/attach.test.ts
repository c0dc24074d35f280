import { type RunnableConfig, RunnableLambda } from "@langchain/core/runnables";
import { afterEach, describe, expect, it } from "vitest";
import { attach } from "../../src/attach/index.js";
import { type Bench, bench, credit, nothingOpen, QUESTION, RUN_ID } from "../support/bench.js";
import { graph } from "../support/graph.js";

const detachers: (() => void)[] = [];
afterEach(() => {
  for (const detach of detachers.splice(0)) detach();
});

const attached = (setup: Bench): Bench => {
  detachers.push(attach(setup.memory));
  return setup;
};

/** An unchanged application: no tracking, and no config passed on. */
const application = ({ retriever }: Bench) => RunnableLambda.from((question: string) => retriever.invoke(question));

describe("attach", () => {
  it("lets every run of an unchanged application be learned from", async () => {
    const setup = attached(await bench());
    await application(setup).invoke(QUESTION, { runId: RUN_ID });
    expect(await credit(setup.memory)).toEqual({ restart: 1, scale: 1 });
    expect((await setup.memory.explain(RUN_ID))?.outcome).toMatchObject({ tier: "completed" });
    expect(setup.codes()).toEqual([]);
    expect(await nothingOpen(setup.memory)).toBe(true);
  });

  it("reaches graphs, and runs that are started later", async () => {
    const setup = attached(await bench());
    const compiled = graph(setup, () => ({})).compile();
    await new Promise((resolve, reject) => {
      setTimeout(() => compiled.invoke({ question: QUESTION }).then(resolve, reject), 1);
    });
    expect(await credit(setup.memory)).toEqual({ restart: 1, scale: 1 });
  });

  it("counts a run once that is tracked as well, or attached twice", async () => {
    const setup = attached(attached(await bench()));
    await setup.memory.track(application(setup)).invoke(QUESTION, { callbacks: [setup.memory.handler] });
    const { episodes, outcomes } = await setup.memory.status();
    expect([episodes.recorded, outcomes.completed]).toEqual([1, 1]);
  });

  it("serves several memories side by side", async () => {
    const [one, other] = [attached(await bench()), attached(await bench())];
    const both = RunnableLambda.from(async (question: string, config: RunnableConfig) => {
      await one.showing("coffee").invoke(question, config);
      await other.showing("restart").invoke(question, config);
    });
    await both.invoke(QUESTION);
    expect([await credit(one.memory), await credit(other.memory)]).toEqual([{ coffee: 1 }, { restart: 1 }]);
  });

  it("ends where it is detached", async () => {
    const setup = await bench();
    const detach = attach(setup.memory);
    detach();
    await application(setup).invoke(QUESTION);
    expect(setup.codes()).toEqual(["NO_OUTCOME_TRACKING"]);
    detachers.push(attach(setup.memory));
    await application(setup).invoke(QUESTION);
    expect((await setup.memory.status()).outcomes.completed).toBe(1);
  });

  it("does nothing where learning is off, and refuses what is no memory", async () => {
    const { memory } = await bench({ enabled: false });
    expect(attach(memory)).not.toThrow();
    expect(() => attach({} as never)).toThrow("memory must be");
  });
});
