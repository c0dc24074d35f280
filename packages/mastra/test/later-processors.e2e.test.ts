import { type InputProcessor, type OutputProcessor, TokenLimiterProcessor } from "@mastra/core/processors";
import type { LearningOptions } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { type Bench, bench, latest, on, QUESTION, remember, scriptedAgent, USER } from "./support/bench.js";
import { promptText } from "./support/scripted-model.js";
import { tools } from "./support/tools.js";

const NOTES = ["the service is deployed with helm", "the service is deployed on fridays"];
const LONG = `the service is deployed ${Array.from({ length: 60 }, () => "carefully").join(" ")}`;

/** Removes messages by their text from the input, before the first step. */
const removing = (text: string): InputProcessor => ({
  id: "removing",
  processInput: ({ messages }) => messages.filter(({ content }) => !JSON.stringify(content).includes(text)),
});

/** The same before each step. */
const removingPerStep = (text: string): InputProcessor => ({
  id: "removing-per-step",
  processInputStep({ messages, messageList }) {
    const removed = messages.filter(({ content }) => JSON.stringify(content).includes(text));
    messageList.removeByIds(removed.map(({ id }) => id));
    return undefined;
  },
});

/** The same in the prompt alone. */
const removingInPrompt = (text: string): InputProcessor => ({
  id: "removing-in-prompt",
  processLLMRequest: ({ prompt }) => ({
    prompt: prompt.filter(({ role, content }) => role === "system" || !JSON.stringify(content).includes(text)),
  }),
});

/** Texts of the memories of a thread's latest run: those that count as shown, and those that were dropped. */
async function shown({ memory }: Bench, threadId: string): Promise<{ shown: string[]; dropped: string[] }> {
  const exposures = (await latest(memory, threadId))?.exposures ?? [];
  const texts = (found: readonly { readonly label?: string | undefined }[]) =>
    found.map(({ label = "" }) => label).sort();
  return {
    shown: texts(exposures.flatMap(({ items }) => items)),
    dropped: texts(exposures.flatMap(({ notShown }) => notShown.filter(({ reason }) => reason === "dropped"))),
  };
}

const labelled = (qavr: LearningOptions = {}, scope: "thread" | "resource" = "thread"): Bench =>
  bench(
    { label: ({ text = "" }) => text.slice(0, 40), ...qavr },
    { options: { lastMessages: 1, semanticRecall: { topK: 2, messageRange: 0, scope } } },
  );

describe("memories that a later processor removes", () => {
  it.each([
    ["before the first step", removing("fridays")],
    ["before each step", removingPerStep("fridays")],
    ["from the prompt alone", removingInPrompt("fridays")],
  ])("%s were not shown", async (_when, processor) => {
    const setup = labelled();
    for (const note of NOTES) await remember(setup.memory, note, { thread: "task" });
    const agent = scriptedAgent(setup.memory, [{ text: "ok" }], { inputProcessors: [processor] });
    await agent.generate(QUESTION, { memory: on });
    expect(promptText(agent.prompts[0])).toContain("helm");
    expect(promptText(agent.prompts[0])).not.toContain("fridays");
    expect(await shown(setup, "task")).toEqual({ shown: [NOTES[0]], dropped: [NOTES[1]] });
  });

  it.each([
    ["before the first step", removing("fridays")],
    ["before each step", removingPerStep("fridays")],
  ])("%s are not in the list of handles either", async (_when, processor) => {
    const setup = labelled();
    for (const note of NOTES) await remember(setup.memory, note, { thread: "task" });
    const agent = scriptedAgent(setup.memory, [{ text: "ok" }], { tools, inputProcessors: [processor] });
    await agent.generate(QUESTION, { memory: on });
    expect(promptText(agent.prompts[0])).toContain("Handles");
    expect(promptText(agent.prompts[0])).not.toContain("fridays");
    expect(await shown(setup, "task")).toEqual({ shown: [NOTES[0]], dropped: [NOTES[1]] });
  });

  it("from the prompt alone were not shown by the list of handles", async () => {
    const setup = labelled();
    for (const note of NOTES) await remember(setup.memory, note, { thread: "task" });
    const inputProcessors = [removingInPrompt("fridays")];
    const agent = scriptedAgent(setup.memory, [{ text: "ok" }], { tools, inputProcessors });
    await agent.generate(QUESTION, { memory: on });
    expect(await shown(setup, "task")).toEqual({ shown: [NOTES[0]], dropped: [NOTES[1]] });
  });

  it("for want of room were not shown, also to evaluate", async () => {
    const seen: number[] = [];
    const setup = labelled({ evaluate: ({ memories }) => void seen.push(memories.length) });
    const { memory } = setup;
    for (const note of [LONG, NOTES[0] as string]) await remember(memory, note, { thread: "task" });
    const agent = scriptedAgent(memory, [{ text: "ok" }], { inputProcessors: [new TokenLimiterProcessor(150)] });
    await (await agent.stream(QUESTION, { memory: on })).consumeStream();
    expect(await shown(setup, "task")).toEqual({ shown: [NOTES[0]], dropped: [LONG.slice(0, 40)] });
    expect(seen.at(-1)).toBe(1);
  });

  it("were not shown to a model that fails either", async () => {
    const setup = labelled();
    for (const note of NOTES) await remember(setup.memory, note, { thread: "task" });
    const agent = scriptedAgent(setup.memory, [{ error: new Error("down") }], {
      inputProcessors: [removing("fridays")],
    });
    await agent.generate(QUESTION, { memory: on }).catch(() => undefined);
    expect(await shown(setup, "task")).toEqual({ shown: [NOTES[0]], dropped: [NOTES[1]] });
  });

  it.each([{}, tools])("with the system message that holds them were not shown", async (given) => {
    const setup = labelled({}, "resource");
    for (const note of NOTES) await remember(setup.memory, note);
    const clearing: InputProcessor = {
      id: "clearing",
      processInputStep({ messageList }) {
        messageList.clearSystemMessages("memory");
        return undefined;
      },
    };
    const agent = scriptedAgent(setup.memory, [{ text: "ok" }], { tools: given, inputProcessors: [clearing] });
    await agent.generate(QUESTION, { memory: on });
    expect(promptText(agent.prompts[0])).not.toContain("helm");
    expect(await shown(setup, "task")).toEqual({ shown: [], dropped: NOTES.toSorted() });
  });
});

describe("memories that a later processor keeps", () => {
  const rewriting: InputProcessor = {
    id: "rewriting",
    processInput: ({ messages }) =>
      messages.map((message) => ({
        ...message,
        content: { ...message.content, content: "x", parts: [{ type: "text" as const, text: "rewritten" }] },
      })),
  };

  it.each([
    ["unchanged, in the thread", "thread", []],
    ["unchanged, in a system message", "resource", []],
    ["in other words", "thread", [rewriting]],
  ] as const)("were shown: %s", async (_how, scope, inputProcessors) => {
    const setup = labelled({}, scope);
    const thread = scope === "thread" ? "task" : "before";
    for (const note of NOTES) await remember(setup.memory, note, { thread });
    const agent = scriptedAgent(setup.memory, [{ text: "ok" }], { inputProcessors: [...inputProcessors] });
    await agent.generate(QUESTION, { memory: on });
    expect(await shown(setup, "task")).toEqual({ shown: NOTES.toSorted(), dropped: [] });
  });
});

describe.each(["thread", "resource"] as const)("a vector of the same %s that is out of date", (scope) => {
  const thread = scope === "thread" ? "task" : "before";
  const PIN = "the pin of the service is 4711";

  /** Stores an answer with a secret, and a later turn, so that the history does not hold it. */
  async function answered(outputProcessors: OutputProcessor[] = []): Promise<Bench> {
    const setup = labelled({}, scope);
    const on = { memory: { thread, resource: USER } };
    await scriptedAgent(setup.memory, [{ text: PIN }], { outputProcessors }).generate("secret", on);
    await scriptedAgent(setup.memory, [{ text: "hello" }]).generate("hello", on);
    return setup;
  }

  async function promptFor({ memory }: Bench): Promise<string> {
    const agent = scriptedAgent(memory, [{ text: "ok" }], { tools });
    await agent.generate("the pin of the service", { memory: on });
    return promptText(agent.prompts[0]);
  }

  it("tells no text of a message that the storage no longer has", async () => {
    const setup = await answered();
    const store = await setup.storage.getStore("memory");
    const { messages = [] } = (await store?.listMessages({ threadId: thread, perPage: false })) ?? {};
    const secret = messages.filter(({ content }) => JSON.stringify(content).includes(PIN));
    await store?.deleteMessages(secret.map(({ id }) => id));
    const prompt = await promptFor(setup);
    expect(prompt).toContain("Handles");
    expect(prompt).not.toContain("4711");
  });

  it("tells no words that a processor has taken out of the message", async () => {
    const redacting: OutputProcessor = {
      id: "redacting",
      processOutputResult: ({ messages }) =>
        messages.map((message) => {
          // Mastra embeds `content.content`, and shows the parts.
          const parts = JSON.parse(JSON.stringify(message.content.parts).replaceAll("4711", "***"));
          return { ...message, content: { ...message.content, parts } };
        }),
    };
    const setup = await answered([redacting]);
    const prompt = await promptFor(setup);
    expect(prompt).toContain("the pin of the service is ***");
    expect(prompt).not.toContain("4711");
  });
});
