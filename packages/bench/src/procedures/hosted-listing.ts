import { Agent } from "@mastra/core/agent";
import { noopLogger } from "@mastra/core/logger";
import { InMemoryStore } from "@mastra/core/storage";
import { LocalFilesystem, Workspace } from "@mastra/core/workspace";
import { memoryStore } from "@qavr/core";
import { describedSearch, sizeOfSkill, withinBudget } from "@qavr/core/adapter";
import { mean } from "@qavr/lab";
import { QavrMemory } from "@qavr/mastra";
import { rankedWorkspace } from "@qavr/mastra/agents";
import { scriptedModel } from "../mastra/scripted-model.js";
import { inFolder } from "./corpus.js";
import { CHARACTERS, type ListedSkill, skillWorld } from "./listed-skills.js";

/** Shares of the runs of a Mastra agent whose skill was in its listing. */
export interface HostedListingResult {
  readonly seed: number;
  /** Of the listing. */
  readonly characters: number;
  readonly runs: number;
  /** Of the second half of the runs, those whose skill is in an alphabetical listing. */
  readonly alphabetical: number;
  /** The same by resemblance to the request, as the host lists without evidence. */
  readonly similar: number;
  /** As the host listed in the first half of the runs, and in the second. */
  readonly learned: readonly [first: number, second: number];
}

/** Characters of listings: those of one host, and a short one. */
const SIZES = [CHARACTERS, CHARACTERS / 10];

export async function measureHostedListing(seed: number, runs: number): Promise<HostedListingResult[]> {
  const { skills, draw, random } = await skillWorld(seed);
  const asked = Array.from({ length: runs }, () => {
    const skill = draw();
    return { skill, text: skill.requests[Math.floor(random() * skill.requests.length)] as string };
  });
  const placed = new Map(skills.map(({ name, description }) => [name, { name, description, path: `skills/${name}` }]));
  const search = describedSearch();
  const listedAmong = (ordered: readonly string[], wanted: string, characters: number): boolean =>
    withinBudget(ordered, characters, (name) => sizeOfSkill(placed.get(name) as Placed)).includes(wanted);
  const byName = [...placed.keys()];
  const results: HostedListingResult[] = [];
  for (const characters of SIZES) {
    const done = await hosted(skills, asked, characters);
    const late = asked.slice(runs / 2);
    results.push({
      ...{ seed, characters, runs },
      alphabetical: mean(late.map(({ skill }) => Number(listedAmong(byName, skill.name, characters)))),
      similar: mean(
        late.map(({ skill, text }) => {
          const ordered = search([...placed.values()], text).map(({ id }) => id);
          return Number(listedAmong(ordered, skill.name, characters));
        }),
      ),
      learned: [mean(done.slice(0, runs / 2)), mean(done.slice(runs / 2))],
    });
  }
  return results;
}

interface Placed {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

/** For each run of the agent 1 where its skill was listed, else 0. */
async function hosted(
  skills: readonly ListedSkill[],
  asked: readonly { readonly skill: ListedSkill; readonly text: string }[],
  maxCharacters: number,
): Promise<number[]> {
  const files = Object.fromEntries(
    skills.map(({ name, description }) => [
      `skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\nSteps.\n`,
    ]),
  );
  return inFolder(files, async (root) => {
    const workspace = new Workspace({ filesystem: new LocalFilesystem({ basePath: root }), skills: ["skills"] });
    const memory = new QavrMemory({
      storage: new InMemoryStore(),
      options: { lastMessages: 1 },
      qavr: {
        store: memoryStore(),
        reportTool: false,
        // In the long listing nearly all runs succeed, which is said otherwise.
        logger: { warn() {} },
        evaluate: ({ text }) => text === "done",
      },
    });
    let wanted = "";
    const model = scriptedModel((prompt, lastRole) => {
      if (lastRole === "tool") return { text: "done" };
      return prompt.includes(`<name>${wanted}</name>`)
        ? { tool: "skill", args: { name: wanted } }
        : { text: "no skill fits" };
    });
    const skilled = rankedWorkspace({ memory, workspace, maxCharacters });
    const fields = { id: "host", name: "host", instructions: "Help.", model, memory, workspace: skilled };
    const agent = new Agent({ ...fields, maxRetries: 0 });
    agent.__setLogger(noopLogger as never);
    const done: number[] = [];
    for (const [run, { skill, text }] of asked.entries()) {
      wanted = skill.name;
      const answer = await agent.generate(text, { memory: { thread: `${run}`, resource: "user" } });
      done.push(answer.text === "done" ? 1 : 0);
    }
    await memory.close();
    return done;
  });
}
