import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { markdown, proceduresIn, proceduresOf } from "./support/procedures.js";

const DEPLOY = markdown({ description: "Deploy the shop", owner: "ops # ours" }, "# Deploy\n\nDeploy at once.\n");
const ID = "procedure:deploy";

describe("distil()", () => {
  const draft = (name: string, body: string) => ({ name, description: `How to ${name}`, body });
  const answer =
    (...procedures: readonly object[]) =>
    async () =>
      `\`\`\`json\n${JSON.stringify({ procedures })}\n\`\`\``;
  const CACHE = "# Clear the cache\n\n1. Stop the workers.\n2. Delete the folder.\n3. Start the workers.\n";

  it("P23: drafts procedures from successful runs alone, merges near-duplicates, and waits until one is accepted", async () => {
    const { root, engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const since = Date.now();
    await procedures.report(ID, { success: true, notes: "No reward yet." });
    const { episode: good } = await procedures.search({ text: "deploy" });
    await engine.report(good, { reward: 0.5, note: "Cleared the cache first." });
    // It says nothing of the run.
    await engine.report(good, { reward: null, neutral: ["m1"] });
    const { episode: bad } = await procedures.search({ text: "deploy" });
    await engine.report(bad, { reward: false, note: "Forgot the cache." });
    let prompt = "";
    const model = async (asked: string) => {
      prompt = asked;
      return answer(
        draft("clear-cache", CACHE),
        draft("cache-again", CACHE.replace("folder", "folders")),
        draft("deploy-2", "# Deploy\n\nDeploy at once!\n"),
      )();
    };
    // One that has read no file yet.
    const drafts = await proceduresIn(root, { engine }).distil({ model, since });
    expect(drafts.map(({ name }) => name)).toEqual(["clear-cache"]);
    expect(prompt).toContain("Cleared the cache first.");
    expect(prompt).not.toContain("Forgot");
    expect(existsSync(join(root, ".qavr/drafts/clear-cache.md"))).toBe(true);
    expect(await procedures.list()).toHaveLength(1);
    expect(await procedures.accept(drafts[0] as never)).toBe("procedure:clear-cache");
    expect(await procedures.get("procedure:clear-cache")).toMatchObject({
      description: "How to clear-cache",
      findings: [],
    });
    expect((await procedures.load("procedure:clear-cache")).text).toBe(CACHE);
    expect(existsSync(join(root, ".qavr/drafts/clear-cache.md"))).toBe(false);
    await expect(procedures.accept(drafts[0] as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("P23: reads transcripts where the application has them, and asks no model without a text", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const model = vi.fn(answer());
    const { episode } = await procedures.search({ text: "deploy" });
    await engine.report(episode, { reward: 1 });
    expect(await procedures.distil({ model, since: 0, transcript: () => " \n" })).toEqual([]);
    expect(await procedures.distil({ model, since: Date.now() + 60_000, transcript: () => "Steps" })).toEqual([]);
    expect(model).not.toHaveBeenCalled();
    const { episode: noted } = await procedures.search({ text: "deploy" });
    await engine.report(noted, { reward: 1, note: "Waited for the lock." });
    const transcript = async (run: string) => (run === noted ? undefined : `Steps of ${run} ${"x".repeat(20_000)}`);
    await procedures.distil({ model, since: 0, transcript });
    expect(model.mock.calls[0]).toEqual([expect.stringContaining(`Steps of ${episode}`)]);
    expect(model.mock.calls[0]).toEqual([expect.stringContaining("Waited for the lock.")]);
    expect(String(model.mock.calls[0]).length).toBeLessThan(13_000);
  });

  it("tells the model of the latest runs where not all fit", async () => {
    const { engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    for (let run = 0; run < 80; run++) {
      const { episode } = await procedures.search({ text: "deploy" });
      await engine.report(episode, { reward: 1, note: `Way ${run}. ${"x".repeat(200)}` });
    }
    const model = vi.fn(answer());
    await procedures.distil({ model, since: 0 });
    const prompt = String(model.mock.calls[0]);
    expect(prompt).toContain("Way 79.");
    expect(prompt).not.toContain("Way 0.");
    expect(prompt.length).toBeLessThan(13_000);
    expect(prompt.match(/<run/g)?.length).toBe(prompt.match(/<\/run/g)?.length);
  });

  it("leaves the front matter of a model's revision out, and refuses it in a body that is given", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const whole = markdown({ description: "Deploy with care" }, "1. Wait for the lock.\n");
    await expect(procedures.revise(ID, whole)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    for (let i = 0; i < 2; i++) await procedures.report(ID, { success: false });
    await procedures.review({ model: async () => `<procedure>\n${whole}</procedure>` });
    const texts = new Set<string>();
    for (let i = 0; i < 40; i++) texts.add((await procedures.load(ID)).text);
    expect([...texts].sort()).toEqual(["# Deploy\n\nDeploy at once.\n", "1. Wait for the lock.\n"]);
  });

  it("refuses a transcript that is no text, such as a list of messages", async () => {
    const { procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const { episode } = await procedures.load("procedure:deploy");
    await procedures.engine.report(episode, { reward: true });
    const transcript = (): string => [{ role: "user" }] as unknown as string;
    await expect(procedures.distil({ model: async () => "", since: 0, transcript })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("transcript"),
    });
  });

  it("P23: changes nothing after a malformed answer", async () => {
    const { root, engine, procedures } = proceduresOf({ "procedures/deploy.md": DEPLOY });
    const { episode } = await procedures.search({ text: "deploy" });
    await engine.report(episode, { reward: 1, note: "Fine." });
    const answers = [
      "no json",
      "{}",
      '{"procedures": "x"}',
      '{"procedures": [null]}',
      '{"procedures": [{"name": "../evil", "description": "d", "body": "b"}]}',
      JSON.stringify({ procedures: [draft("fine", "Fine.\n"), draft("Not Fine", "b")] }),
      JSON.stringify({ procedures: [draft("long", "x".repeat(6_001))] }),
      undefined,
    ];
    for (const text of answers) {
      const distilled = procedures.distil({ model: async () => text as string, since: 0 });
      await expect(distilled, text).rejects.toMatchObject({ code: "INVALID_MODEL_OUTPUT" });
    }
    expect(globSync("{procedures,skills,.qavr/drafts}/**/*.md", { cwd: root })).toEqual(["procedures/deploy.md"]);
    await expect(procedures.accept(draft("../evil", "b"))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
