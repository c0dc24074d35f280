import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, FilesystemBackend } from "deepagents";
import { createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { type RankedSkillsFields, rankedSkills } from "../src/agents/index.js";
import type { Qavr } from "../src/index.js";
import { ask, recording } from "./support/agent.js";
import { bench, nothingOpen } from "./support/bench.js";
import { tempFolder } from "./support/temp-folder.js";

/** A folder with one `SKILL.md` for each name. */
function folderOf(skills: Readonly<Record<string, string>>): string {
  const root = tempFolder();
  for (const [name, description] of Object.entries(skills)) {
    mkdirSync(join(root, "skills", name), { recursive: true });
    const text = `---\nname: ${name}\ndescription: ${description}\n---\n\nSteps of ${name}.\n`;
    writeFileSync(join(root, "skills", name, "SKILL.md"), text);
  }
  return root;
}

/** Twenty skills of 44 characters each, of which a listing of 230 characters holds five. */
const TWENTY = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`skill-${String(i).padStart(2, "0")}`, "does it"]),
);
/** The skills that a prompt lists. */
const namesIn = (prompt: string): string[] =>
  [...prompt.matchAll(/^- \*\*([\w-]+)\*\*: /gm)].map(([, name]) => name as string);

interface Invocable {
  invoke(input: object, config?: object): Promise<unknown>;
}

/** A deep agent whose model reads the right skill if it is listed, and records the listing of each call. */
function agentWith(
  memory: Qavr,
  root: string,
  right: string,
  {
    fields = {},
    checkpointer,
    reads = true,
  }: { fields?: Omit<RankedSkillsFields, "memory">; checkpointer?: MemorySaver; reads?: boolean } = {},
) {
  const listed: string[][] = [];
  const read: string[] = [];
  const model = createMiddleware({
    name: "model",
    wrapModelCall: async ({ systemMessage, messages }) => {
      const names = namesIn(systemMessage.text);
      listed.push(names);
      const last = messages.at(-1);
      if (!reads) return new AIMessage("done");
      if (last?.type === "tool") {
        read.push(last.text);
        return new AIMessage("done");
      }
      if (!names.includes(right)) throw new Error("no skill fits");
      const args = { file_path: `/skills/${right}/SKILL.md` };
      return new AIMessage({ content: "", tool_calls: [{ name: "read_file", args, id: crypto.randomUUID() }] });
    },
  });
  const agent = createDeepAgent({
    model: recording(),
    backend: new FilesystemBackend({ rootDir: root, virtualMode: true }),
    skills: ["/skills/"],
    middleware: [rankedSkills({ memory, ...fields }), model],
    ...(checkpointer ? { checkpointer } : {}),
  });
  return { agent: memory.track(agent) as unknown as Invocable, listed, read };
}

describe("a deep agent with ranked skills", () => {
  it("is listed as many as fit, and the one that is needed stays listed once it was found", async () => {
    const { memory } = await bench();
    const { agent, listed, read } = agentWith(memory, folderOf(TWENTY), "skill-17", { fields: { maxCharacters: 230 } });
    let failures = 0;
    for (let run = 0; run < 30; run++) await agent.invoke(ask("please help")).catch(() => failures++);
    expect(listed[0]).toHaveLength(5);
    expect(read.at(-1)).toContain("Steps of skill-17");
    expect(failures).toBeLessThanOrEqual(10);
    const { memories } = await memory.memories({ collection: "skills" });
    const needed = memories.find(({ id }) => id === "skill-17");
    expect(needed).toMatchObject({ used: 30 - failures, successes: 30 - failures });
    expect(memories.filter(({ id }) => id !== "skill-17").every(({ used }) => used === 0)).toBe(true);
    expect(await nothingOpen(memory)).toBe(true);
  });

  it("is listed the skill that helped first, and the same skills at each model call of a run", async () => {
    const { memory } = await bench();
    const same = "deploys the service";
    const root = folderOf({ alpha: same, beta: same, gamma: same, other: "writes the notes" });
    const { agent, listed } = agentWith(memory, root, "gamma", { fields: { maxCharacters: 120 } });
    for (let run = 0; run < 12; run++) await agent.invoke(ask("deploy the service")).catch(() => {});
    expect(listed[0]).toEqual(["beta", "alpha"]);
    expect(listed.at(-1)?.[0]).toBe("gamma");
    expect(listed.at(-2)).toEqual(listed.at(-1));
  });

  it.each([
    ["nothing where all its skills fit and runs read one, since those runs are verdicts on it", true, []],
    ["that there is nothing to choose from where all fit and none is read", false, ["NOTHING_TO_CHOOSE_FROM"]],
  ])("is told %s", async (_, reads, codes) => {
    const { memory, lines } = await bench({ evaluate: () => true });
    const { agent } = agentWith(memory, folderOf({ post: "sends a letter", weather: "the forecast" }), "post", {
      reads,
    });
    for (let run = 0; run < 15; run++) await agent.invoke(ask("please help"));
    await memory.flush();
    expect(lines.filter(({ level }) => level === "warn").map(({ code }) => code)).toEqual(codes);
  });

  it("keeps all its skills over the turns of a thread, and takes up those that the host loads anew", async () => {
    const { memory } = await bench();
    const root = folderOf({ weather: "the forecast of the day", post: "sends a letter by mail" });
    const checkpointer = new MemorySaver();
    const { agent, listed } = agentWith(memory, root, "post", { fields: { maxCharacters: 60 }, checkpointer });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(ask("send a letter"), thread);
    await agent.invoke(ask("the forecast please"), thread).catch(() => {});
    expect(listed.map(([first, ...others]) => [first, others.length])).toEqual([
      ["post", 0],
      ["post", 0],
      ["weather", 0],
    ]);
    mkdirSync(join(root, "skills", "parcel"));
    writeFileSync(
      join(root, "skills", "parcel", "SKILL.md"),
      "---\nname: parcel\ndescription: sends a parcel\n---\n\nGo.\n",
    );
    await agent.invoke({ ...ask("send a parcel"), skillsMetadata: null }, thread).catch(() => {});
    expect(listed.at(-1)).toEqual(["parcel"]);
  });

  it("is listed all skills in the host's order where there is no request, where ranking fails, and where learning is off", async () => {
    const root = folderOf(TWENTY);
    const failing = { query: () => Promise.reject(new Error("no")) };
    const { memory, lines } = await bench();
    const off = await bench({ enabled: false });
    const agents = [
      agentWith(memory, root, "skill-03", { fields: { maxCharacters: 230, query: () => "" } }),
      agentWith(memory, root, "skill-03", { fields: { maxCharacters: 230, ...failing } }),
      agentWith(off.memory, root, "skill-03", { fields: { maxCharacters: 230 } }),
    ];
    for (const { agent } of agents) await agent.invoke(ask("please help"));
    for (const { listed } of agents) expect(listed[0]).toEqual(Object.keys(TWENTY));
    expect(lines.filter(({ level }) => level === "warn").map(({ code }) => code)).toEqual(["MEMORIES_UNAVAILABLE"]);
  });

  it("is listed other skills than its subagents, whose reading counts as use in the same run", async () => {
    const { memory } = await bench();
    const root = folderOf({ plan: "makes a plan", ...TWENTY });
    const listed: Record<string, string[][]> = { main: [], helper: [] };
    const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
    const playing = (agent: "main" | "helper", play: (names: string[], messages: BaseMessage[]) => AIMessage) =>
      createMiddleware({
        name: "model",
        wrapModelCall: async ({ systemMessage, messages }) => {
          const names = namesIn(systemMessage.text);
          listed[agent]?.push(names);
          return play(names, messages);
        },
      });
    const call = (name: string, args: object) => ({ name, args: { ...args }, id: crypto.randomUUID() });
    // The second one takes the place of the subagent that deepagents adds.
    const subagents = ["helper", "general-purpose"];
    const help = (subagent_type: string) => call("task", { subagent_type, description: "please help" });
    const main = playing("main", (_, messages) => {
      const results = messages.filter(({ type }) => type === "tool").map(({ text }) => text);
      if (results.length === 0) return new AIMessage({ content: "", tool_calls: subagents.map(help) });
      if (results.includes("no skill fits")) throw new Error("no skill fits");
      return new AIMessage("done");
    });
    const helper = playing("helper", (names, messages) => {
      if (messages.at(-1)?.type === "tool") return new AIMessage("helped");
      if (!names.includes("skill-17")) return new AIMessage("no skill fits");
      return new AIMessage({
        content: "",
        tool_calls: [call("read_file", { file_path: "/skills/skill-17/SKILL.md" })],
      });
    });
    mkdirSync(join(root, "planning"));
    renameSync(join(root, "skills", "plan"), join(root, "planning", "plan"));
    const agent = memory.track(
      createDeepAgent({
        model: recording(),
        backend,
        skills: ["/planning/"],
        middleware: [rankedSkills({ memory }), main],
        subagents: subagents.map((name) => ({
          name,
          description: "Helps.",
          systemPrompt: "Help.",
          skills: ["/skills/"],
          middleware: [rankedSkills({ memory, maxCharacters: 230 }), helper],
        })),
      }),
    ) as unknown as Invocable;
    let failures = 0;
    for (let run = 0; run < 20; run++) await agent.invoke(ask("please help")).catch(() => failures++);
    expect(failures).toBeLessThanOrEqual(10);
    expect(listed.main?.every((names) => names.join() === "plan")).toBe(true);
    expect(listed.helper?.every((names) => names.length === 5)).toBe(true);
    const { memories } = await memory.memories({ collection: "skills" });
    expect(memories.find(({ id }) => id === "skill-17")).toMatchObject({
      used: 20 - failures,
      successes: 20 - failures,
    });
    expect(memories.find(({ id }) => id === "plan")).toMatchObject({ shown: 20, used: 0 });
    expect(await nothingOpen(memory)).toBe(true);
  });

  it.each([
    ["a listing without characters", { maxCharacters: 0 }],
    ["a misspelt option", { budget: 5 }],
    ["a name that is no state key", { name: "my skills" }],
    ["a collection without a name", { collection: "" }],
  ])("is refused %s", async (_, fields) => {
    const { memory } = await bench();
    expect(() => rankedSkills({ memory, ...fields })).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
