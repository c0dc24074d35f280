import { memoryStore } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { learningBot, type Note, SUSPEND } from "./toy-adapter.js";

const NOTES: readonly Note[] = ["database", "disk", "worker"].map((part, place) => ({
  key: part,
  text: `restart the ${part}`,
  score: 0.9 - place / 100,
}));
const search = async (_question: string, limit: number) => NOTES.slice(0, limit);
const answer = async (_question: string, notes: readonly Note[]) => notes.map(({ key }) => key).join(" ");

describe("a toy adapter on the run kit", () => {
  it("shows first what helped", async () => {
    const bot = learningBot(search, answer, { store: memoryStore() });
    expect(await bot.run("r1", "it is stuck")).toBe("database disk");
    await bot.report("r1", { helpful: ["disk"], harmful: ["database"] });
    expect((await bot.run("r2", "it is stuck")).split(" ")[0]).toBe("disk");
  });

  it("learns from a judge and from errors", async () => {
    const failing = async (): Promise<string> => Promise.reject(new Error("broken"));
    const store = memoryStore();
    const unlucky = learningBot(search, failing, { store });
    await expect(unlucky.run("r1", "it is stuck")).rejects.toThrow("broken");
    await unlucky.flush();
    const judged = learningBot(search, answer, { store, evaluate: ({ answer: text }) => text.includes("worker") });
    expect(await judged.run("r2", "it is stuck")).toContain("worker");
  });

  it("keeps the episode of a suspended run", async () => {
    let waits = true;
    const asking = async (question: string, notes: readonly Note[]) => {
      if (waits) throw SUSPEND;
      return answer(question, notes);
    };
    const bot = learningBot(search, asking, { store: memoryStore() });
    await expect(bot.run("r1", "it is stuck")).rejects.toBe(SUSPEND);
    waits = false;
    await bot.run("r1", "it is stuck");
    expect(await bot.report("r1", { success: true })).toMatchObject({ status: "committed" });
  });

  it("answers in the host's order when the store fails, and refuses wrong options", async () => {
    const broken = { ...memoryStore(), readStates: async () => Promise.reject(new Error("gone")) };
    const bot = learningBot(search, answer, { store: broken, logger: {} });
    expect(await bot.run("r1", "it is stuck")).toBe("database disk");
    expect(() => learningBot(search, answer, { store: memoryStore(), evaluate: true as never })).toThrow(
      "evaluate must be a function",
    );
  });
});
