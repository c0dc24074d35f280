import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { answerOf } from "./support/answer-of.js";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));

/** Runs the fixture with the built package copied beside another set of peers, where Node then finds those. */
async function runBeside(peers: string): Promise<Record<string, unknown>> {
  const folder = join(peers, "node_modules", ".cache", "qavr-mastra-versions");
  rmSync(folder, { recursive: true, force: true });
  const copy = join(folder, "node_modules", "@qavr", "mastra");
  mkdirSync(copy, { recursive: true });
  for (const part of ["package.json", "dist"]) cpSync(join(packageFolder, part), join(copy, part), { recursive: true });
  cpSync(join(packageFolder, "test", "fixtures", "every-version.mjs"), join(folder, "every-version.mjs"));
  return answerOf(join(folder, "every-version.mjs"));
}

function version(peers: string, name: string): string {
  return JSON.parse(readFileSync(join(peers, "node_modules", name, "package.json"), "utf8")).version as string;
}

describe.each([
  ["the oldest Mastra of the peer ranges", join(packageFolder, "floor"), { skills: "letter weather", learned: "" }],
  ["the newest", packageFolder, { skills: "letter", learned: "letter" }],
])("on %s", (_which, peers, { skills, learned }) => {
  let answers: Record<string, unknown>;

  beforeAll(async () => {
    answers = await runBeside(peers);
  });

  it("runs are credited alike", () => {
    expect(answers).toMatchObject({
      good: "ended 1 completed 1",
      byRunId: "ended 1 completed 1",
      bad: "ended 0 observed 1",
      reported: "ended 0 self-reported 1",
      waiting: "suspended   1",
      resumed: "ended 1 completed 1",
      refused: "ended   1",
    });
  });

  it("no run stays suspended that was resumed", () => {
    expect(answers.leftSuspended).toBe(0);
  });

  it("a clone's messages begin with what is known of the originals", () => {
    expect(answers.clones).toBe(true);
  });

  it("a network is judged without the runs of its thread that ended before it", () => {
    expect(answers).toMatchObject({ networkOutcomes: "1 1", between: "ended 1 completed 1" });
  });

  it("tools are ranked; skills too where they are listed for a run", () => {
    expect(answers).toMatchObject({ tools: "letter", skills, learned: { tools: "letter", skills: learned } });
  });

  it("runs at the same time on one request context are credited apart", () => {
    expect(answers).toMatchObject({
      sharedSlow: "ended 1 completed 1",
      sharedSlowByRunId: "ended 1 completed 1",
      sharedBad: "ended 0 observed 1",
      sharedReported: "ended 0 self-reported 1",
      apart: true,
    });
  });

  it("a request context from outside cannot credit another's run that is under way", () => {
    expect(answers).toMatchObject({ attacked: "open   1", victim: "ended 1 completed 1" });
  });
});

describe("the peer ranges", () => {
  it("begin where they are tested", () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
    const floor = join(packageFolder, "floor");
    expect(peerDependencies).toMatchObject({
      "@mastra/core": `>=${version(floor, "@mastra/core")}-0 <2.0.0-0`,
      "@mastra/memory": `>=${version(floor, "@mastra/memory")}-0 <2.0.0-0`,
    });
  });
});
