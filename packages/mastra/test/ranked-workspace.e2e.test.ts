import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Mastra } from "@mastra/core/mastra";
import { SkillSearchProcessor } from "@mastra/core/processors";
import { LocalFilesystem, Workspace } from "@mastra/core/workspace";
import type { LearningOptions } from "@qavr/mastra";
import { type RankedWorkspaceFields, rankedWorkspace, type SkilledWorkspace } from "@qavr/mastra/agents";
import { describe, expect, it } from "vitest";
import { bench, latest, scriptedAgent, USER } from "./support/bench.js";
import { listener } from "./support/listener.js";
import { promptText, type Script } from "./support/scripted-model.js";
import { temporaryFolder } from "./support/stores.js";
import { tools as stock } from "./support/tools.js";

/** A workspace with one `SKILL.md` for each name. */
function workspaceOf(skills: Readonly<Record<string, string>>, options: object = {}): Workspace {
  const basePath = temporaryFolder();
  for (const [name, description] of Object.entries(skills)) {
    const folder = join(basePath, "skills", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: ${name}\ndescription: ${description}\n---\n\nSteps of ${name}: ${description}\n`,
    );
  }
  return new Workspace({ filesystem: new LocalFilesystem({ basePath }), skills: ["skills"], ...options });
}

/** Twenty skills of 33 characters each, of which a listing of 200 characters holds six. */
const TWENTY = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`skill-${String(i).padStart(2, "0")}`, "does it  "]),
);
const LISTED = /<name>([^<]+)<\/name>/g;
const listed = (prompt: Parameters<typeof promptText>[0]): string[] =>
  [...promptText(prompt).matchAll(LISTED)].map(([, name]) => name as string);

let threads = 0;
const on = () => ({ memory: { thread: `skills-${threads++}`, resource: USER } });

function agentWith(
  workspace: Workspace,
  script: Script,
  {
    qavr = {},
    maxCharacters,
    processors,
    tools,
  }: {
    qavr?: LearningOptions;
    maxCharacters?: number;
    processors?: (ranked: Workspace) => unknown[];
    tools?: object;
  } = {},
) {
  const { memory, storage } = bench({ reportTool: false, ...qavr });
  const ranked = rankedWorkspace({ memory, workspace, maxCharacters });
  const agent = scriptedAgent(memory, script, {
    workspace: ranked as never,
    ...(processors ? { inputProcessors: processors(ranked) as never } : {}),
    ...(tools ? { tools: tools as never } : {}),
  });
  return { memory, storage, agent, ranked };
}

/** Loads the skill if it is listed, and fails if it is not. */
const loads =
  (right: string): Script =>
  (prompt) => {
    if (prompt.at(-1)?.role === "tool") return { text: "done" };
    return listed(prompt).includes(right)
      ? { tool: "skill", args: { name: right } }
      : { error: new Error("no skill fits") };
  };

describe("the skills of a workspace", () => {
  it("are listed as far as they fit, and the one that is needed stays listed once it was found", async () => {
    const { memory, agent } = agentWith(workspaceOf(TWENTY), loads("skill-17"), { maxCharacters: 200 });
    let failures = 0;
    for (let run = 0; run < 30; run++) await agent.generate("please help", on()).catch(() => failures++);
    expect(listed(agent.prompts[0])).toHaveLength(6);
    expect(listed(agent.prompts.at(-1))).toContain("skill-17");
    expect(failures).toBeLessThanOrEqual(10);
    await memory.flush();
    const { memories } = await memory.memories({ collection: "skills" });
    const needed = memories.find(({ id }) => id === "skill-17");
    expect(needed).toMatchObject({ used: 30 - failures, successes: 30 - failures });
    expect(memories.filter(({ id }) => id !== "skill-17").every(({ used }) => used === 0)).toBe(true);
  });

  it("are all shown and their loads noted where they fit, in the order and form of Mastra", async () => {
    const skills = { deploy: "ships a service", "release-notes": "writes the notes", audit: "checks permissions" };
    const { memory, agent } = agentWith(workspaceOf(skills), [
      { tool: "skill", args: { name: "skills/deploy" } },
      { text: "deployed" },
    ]);
    const plain = scriptedAgent(bench().memory, [{ text: "ok" }], { workspace: workspaceOf(skills) as never });
    const at = on();
    await agent.generate("ship it", at);
    await plain.generate("ship it", at);
    expect(listed(agent.prompts[0])).toEqual(["audit", "deploy", "release-notes"]);
    expect(listed(plain.prompts[0])).toEqual(listed(agent.prompts[0]));
    expect(JSON.stringify(agent.prompts[1])).toContain("Steps of deploy");
    const episode = await latest(memory, at.memory.thread);
    const skillsShown = episode?.exposures.filter(({ collection }) => collection === "skills");
    expect(skillsShown?.flatMap(({ items }) => items.map(({ id }) => id)).sort()).toEqual(listed(agent.prompts[0]));
    expect(episode?.used).toEqual([{ id: "deploy", by: "skill" }]);
  });

  it("are used by a run that loads one, also when the run then waits for an approval", async () => {
    const { needsApproval } = stock;
    const { memory, agent, storage } = agentWith(
      workspaceOf({ deploy: "ships a service", audit: "checks permissions" }),
      [{ tool: "skill", args: { name: "deploy" } }, { tool: "needsApproval" }, { text: "deployed" }],
      { tools: { needsApproval } },
    );
    new Mastra({ agents: { agent }, storage, logger: false });
    const at = on();
    const { runId } = await agent.generate("ship it", at);
    await agent.approveToolCallGenerate({ runId: runId as string });
    expect((await latest(memory, at.memory.thread))?.used).toEqual([{ id: "deploy", by: "skill" }]);
  });

  it("are found in learned order, and not listed, where a processor searches them", async () => {
    const skills = { "deploy-old": "deploy a service", "deploy-new": "deploy a service", other: "something else" };
    let found: string[] = [];
    const script: Script = (prompt) => {
      const last = promptText(prompt.slice(-1));
      const result = JSON.stringify(prompt.at(-1)?.content ?? "");
      if (result.includes('"search_skills"')) {
        found = [...result.matchAll(/\\?"name\\?":\\?"(deploy-\w+)/g)].map(([, name]) => name as string);
        return { tool: "load_skill", args: { skillName: found[0] as string } };
      }
      if (result.includes('"load_skill"')) {
        return found[0] === "deploy-old" ? { text: "deployed" } : { error: new Error("the new way fails") };
      }
      return last === "" ? { text: "?" } : { tool: "search_skills", args: { query: "deploy" } };
    };
    const { memory, agent } = agentWith(workspaceOf(skills, { bm25: true }), script, {
      processors: (workspace) => [new SkillSearchProcessor({ workspace, search: { topK: 1 }, ttl: 0 })],
    });
    const seen: (string | undefined)[] = [];
    for (let run = 0; run < 8; run++) {
      await agent.generate("deploy the service", on()).catch(() => {});
      seen.push(found[0]);
    }
    expect(seen[0]).toBe("deploy-new");
    expect(seen.slice(-3)).toEqual(["deploy-old", "deploy-old", "deploy-old"]);
    expect(listed(agent.prompts[0])).toEqual([]);
    await memory.flush();
    const { memories } = await memory.memories({ collection: "skills" });
    expect(memories.map(({ id }) => id).sort()).toEqual(["deploy-new", "deploy-old"]);
    expect(memories.every(({ shown, used }) => shown === used)).toBe(true);
  });

  it("are found by the agent's own search tool in the run that it belongs to, and by an application without any", async () => {
    const skills = { alpha: "deploy a service", beta: "deploy a service", other: "writes notes" };
    const { memory, agent, ranked } = agentWith(workspaceOf(skills, { bm25: true }), [
      { tool: "skill_search", args: { query: "deploy", topK: 1 } },
      { text: "ok" },
    ]);
    expect(await ranked.skills?.search("deploy")).toHaveLength(2);
    expect((await memory.memories({ collection: "skills" })).memories).toEqual([]);
    const at = on();
    await agent.generate("deploy the service", at);
    const { exposures = [] } = (await latest(memory, at.memory.thread)) ?? {};
    const shown = exposures.filter(({ collection }) => collection === "skills").map(({ items }) => items.length);
    expect(shown).toEqual([3, 1]);
    expect((await memory.memories({ collection: "skills" })).memories.every(({ used }) => used === 0)).toBe(true);
  });

  it("are shown by a search only as far as it returns their files", async () => {
    const workspace = workspaceOf({ alpha: "deploy a service", beta: "deploy a service" }, { bm25: true });
    for (const name of ["alpha", "beta"]) {
      const folder = join((workspace.filesystem as LocalFilesystem).basePath, "skills", name, "references");
      mkdirSync(folder);
      for (const file of ["a.md", "b.md"]) writeFileSync(join(folder, file), "deploy a service");
    }
    let found: string[] = [];
    const { memory, agent } = agentWith(workspace, (prompt) => {
      if (prompt.at(-1)?.role !== "tool") return { tool: "skill_search", args: { query: "deploy", topK: 2 } };
      found = [...JSON.stringify(prompt.at(-1)?.content).matchAll(/\[(alpha|beta)\]/g)].map(
        ([, name]) => name as string,
      );
      return { error: new Error("no skill fits") };
    });
    const at = on();
    for (const run of [on(), at]) await agent.generate("deploy the service", run).catch(() => {});
    const { exposures = [] } = (await latest(memory, at.memory.thread)) ?? {};
    expect(exposures.at(-1)?.items.map(({ id }) => id)).toEqual([...new Set(found)]);
  });

  it("stay apart in runs at the same time", async () => {
    const skills = { weather: "the forecast of the day", post: "sends a letter by mail" };
    const { agent } = agentWith(workspaceOf(skills), [{ text: "ok" }], { maxCharacters: 50 });
    await Promise.all([agent.generate("send a letter", on()), agent.generate("the forecast please", on())]);
    expect(agent.prompts.flatMap(listed).sort()).toEqual(["post", "weather"]);
  });

  it("are all listed to an application, and in a run without a thread", async () => {
    const { codes, logger } = listener();
    const { agent, ranked } = agentWith(workspaceOf(TWENTY), [{ text: "ok" }], {
      maxCharacters: 200,
      qavr: { logger },
    });
    expect(await ranked.skills?.list()).toHaveLength(20);
    expect(codes).toEqual([]);
    await agent.generate("please help");
    expect(listed(agent.prompts[0])).toHaveLength(20);
    expect(codes).toEqual(["RUN_WITHOUT_THREAD", "LISTED_OUTSIDE_RUN"]);
  });

  it("stay as they are on a Mastra that lists them without their run, which is logged", async () => {
    const { codes, logger } = listener();
    const { memory } = bench({ logger });
    const workspace = { skills: { list: async () => [], get: async () => null } } as unknown as SkilledWorkspace;
    expect(rankedWorkspace({ memory, workspace })).toBe(workspace);
    expect(codes).toEqual(["SKILLS_NOT_RANKED"]);
  });

  it("are Mastra's own while learning is off", () => {
    const workspace = workspaceOf(TWENTY);
    const { memory } = bench({ enabled: false });
    expect(rankedWorkspace({ memory, workspace })).toBe(workspace);
  });

  it.each([
    [
      "a workspace without skills",
      { workspace: new Workspace({ filesystem: new LocalFilesystem({ basePath: "." }) }) },
    ],
    ["no workspace", { workspace: undefined as never }],
    ["a listing without characters", { workspace: workspaceOf(TWENTY), maxCharacters: 0 }],
    ["a misspelt option", { workspace: workspaceOf(TWENTY), budget: 5 } as object as never],
  ])("are refused for %s", (_, fields: Omit<RankedWorkspaceFields<Workspace>, "memory">) => {
    const { memory } = bench();
    expect(() => rankedWorkspace({ memory, ...fields })).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
